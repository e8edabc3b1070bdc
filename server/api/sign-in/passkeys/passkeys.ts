/** Passkeys: for signing in without a password, as a second factor, and for stepping up. */
import { randomBytes } from 'node:crypto'
import { withTransaction } from '../../../base/database/transaction.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import { newId } from '../../../base/lib/ids.ts'
import { writeAudit } from '../audit-log/audit-log.ts'
import { dropUnneededCodes, putRecoveryCodes } from '../factors/factors.ts'
import type { Exchange, SignInParts } from '../parts.ts'
import { SIGNED_IN, type SignInOutcome } from '../passwords/password-sign-in.ts'
import { canSignIn, findPerson, lockPerson } from '../person-store.ts'
import { noStep, noWayIn, wrongPasskey } from '../refusals.ts'
import type { Session } from '../sessions/session.ts'
import { putChallenge, takeChallenge } from '../sessions/session-store.ts'
import { markSteppedUp, openSession, renewSession } from '../sessions/sessions.ts'
import { putStepChallenge, takeStepChallenge } from '../sessions/step-store.ts'
import { beginStep, endStep, readStep } from '../sessions/steps.ts'
import {
  deletePasskey,
  findPasskey,
  insertPasskey,
  notePasskeyUse,
  type PasskeyRow,
  selectPasskeys,
} from './passkey-store.ts'
import { ALGORITHMS } from './public-keys.ts'
import {
  type CreatedCredential,
  PasskeyRefusal,
  readCreated,
  readSignedCredential,
  type SignedCredential,
} from './webauthn.ts'

const CHALLENGE_BYTES = 32
const TIMEOUT_MS = 300_000
const PASSKEYS_MAX = 20

/** Throws 409 if browsers would refuse passkeys on this host. */
function domainOf({ consoleAddress }: SignInParts): string {
  const domain = consoleAddress.passkeyDomain()
  if (domain) return domain
  throw new GatewayError('conflict', {
    message: 'passkeys need a PUBLIC_URL with a host name, not an IP address',
  })
}

function expect(parts: SignInParts, challenge: Buffer) {
  return { challenge, domain: domainOf(parts), origin: parts.consoleAddress.passkeyOrigin() }
}

/** Begins a sign-in, or continues one after the password. */
export async function beginPasskeySignIn(parts: SignInParts, exchange: Exchange) {
  await parts.throttle.take('anonymous', parts.addresses.networkOf(exchange.request))
  const challenge = randomBytes(CHALLENGE_BYTES)
  const step = await readStep(parts, exchange)
  if (step) await putStepChallenge(parts.sql, step.tokenHash, challenge)
  else await beginStep(parts, exchange, { personId: null, challenge })
  const passkeys = step?.person_id ? await selectPasskeys(parts.sql, step.person_id) : []
  return requestOptions(parts, challenge, passkeys)
}

/** Signs in. Throws the same 401 for every invalid response. */
export async function finishPasskeySignIn(
  parts: SignInParts,
  credential: SignedCredential,
  exchange: Exchange,
): Promise<SignInOutcome> {
  await parts.throttle.take('anonymous', parts.addresses.networkOf(exchange.request))
  const current = await readStep(parts, exchange)
  const step = current && (await takeStepChallenge(parts.sql, current.tokenHash))
  if (!current || !step?.challenge) throw noStep()
  const personId = await verifyPasskey(parts, credential, {
    challenge: step.challenge,
    personId: step.person_id ?? undefined,
  })
  if (!(await endStep(parts, exchange, current.tokenHash))) throw noStep()
  await openSession(parts, personId, exchange, 'passkey')
  return SIGNED_IN
}

export async function beginPasskeyStepUp(parts: SignInParts, session: Session) {
  const challenge = randomBytes(CHALLENGE_BYTES)
  const passkeys = await selectPasskeys(parts.sql, session.user.id)
  if (passkeys.length === 0) throw new GatewayError('conflict', { message: 'you have no passkey' })
  await putChallenge(parts.sql, session.sessionId, challenge)
  return requestOptions(parts, challenge, passkeys)
}

/** Throws the same 401 for every invalid response. */
export async function finishPasskeyStepUp(
  parts: SignInParts,
  session: Session,
  credential: SignedCredential,
): Promise<Date> {
  const challenge = await takeChallenge(parts.sql, session.sessionId)
  if (!challenge) throw wrongPasskey()
  await verifyPasskey(parts, credential, { challenge, personId: session.user.id })
  return await markSteppedUp(parts, session)
}

/** Returns the owner of the passkey. A count that does not grow means a copied authenticator. */
async function verifyPasskey(
  parts: SignInParts,
  credential: SignedCredential,
  expectation: { readonly challenge: Buffer; readonly personId: string | undefined },
): Promise<string> {
  const { sql } = parts
  const passkey = await findPasskey(sql, Buffer.from(credential.id, 'base64url'))
  if (!passkey || !isOf(passkey, credential, expectation.personId)) throw wrongPasskey()
  const person = await findPerson(sql, passkey.person_id)
  if (!person || person.disabled_at) throw wrongPasskey()
  const expected = expect(parts, expectation.challenge)
  const signed = await refuseWith401(readSignedCredential(credential, expected, passkey.public_key))
  if (!(await notePasskeyUse(sql, passkey.id, signed))) {
    const copied = { actor: undefined, action: 'passkey copied', target: passkey.id }
    await writeAudit(sql, { ...copied, details: { user: person.id } })
    throw wrongPasskey()
  }
  return person.id
}

function isOf(
  passkey: PasskeyRow,
  { response }: SignedCredential,
  personId: string | undefined,
): boolean {
  if (personId !== undefined && passkey.person_id !== personId) return false
  if (!response.userHandle) return personId !== undefined
  return Buffer.from(response.userHandle, 'base64url').toString() === passkey.person_id
}

/** Returns `PublicKeyCredentialCreationOptionsJSON`, with which a browser creates a passkey. */
export async function beginPasskey(parts: SignInParts, session: Session) {
  const { id, email, name } = session.user
  const domain = domainOf(parts)
  const passkeys = await selectPasskeys(parts.sql, id)
  if (passkeys.length >= PASSKEYS_MAX) {
    throw new GatewayError('conflict', {
      message: `a user may have at most ${PASSKEYS_MAX} passkeys`,
    })
  }
  const challenge = randomBytes(CHALLENGE_BYTES)
  await putChallenge(parts.sql, session.sessionId, challenge)
  return {
    rp: { id: domain, name: 'Tributary' },
    user: { id: Buffer.from(id).toString('base64url'), name: email, displayName: name },
    challenge: challenge.toString('base64url'),
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key' as const, alg })),
    timeout: TIMEOUT_MS,
    excludeCredentials: passkeys.map(describeCredential),
    authenticatorSelection: {
      residentKey: 'preferred' as const,
      userVerification: 'required' as const,
    },
    attestation: 'none' as const,
  }
}

/**
 * Adds a passkey and ends the person's other sessions. Creates recovery codes with the first
 * factor. Throws 400 for an invalid response, 409 for a passkey that is already registered.
 */
export async function addPasskey(
  parts: SignInParts,
  session: Session,
  passkey: { readonly name: string; readonly credential: CreatedCredential },
  exchange: Exchange,
): Promise<{ id: string; recovery_codes: string[] | null }> {
  const challenge = await takeChallenge(parts.sql, session.sessionId)
  if (!challenge) throw new GatewayError('conflict', { message: 'start adding a passkey first' })
  const created = await refuseWith400(readCreated(passkey.credential, expect(parts, challenge)))
  const id = newId('pky')
  const codes = await withTransaction(parts.sql, async (transaction) => {
    await lockPerson(transaction, session.user.id)
    const before = await findPerson(transaction, session.user.id)
    const isNew = await insertPasskey(transaction, {
      id,
      person_id: session.user.id,
      name: passkey.name,
      credential_id: created.credentialId,
      public_key: created.publicKey,
      sign_count: BigInt(created.signCount),
      transports: [...created.transports],
      backed_up: created.backedUp,
    })
    if (!isNew)
      throw new GatewayError('conflict', { message: 'this passkey is registered already' })
    const isFirst = !before?.totp_secret && !before?.passkeys
    return isFirst ? await putRecoveryCodes(transaction, session.user.id) : null
  })
  await renewSession(parts, session, exchange)
  return { id, recovery_codes: codes }
}

/**
 * Deletes a passkey and ends the person's other sessions. Throws 404, and 409 for the last one of a
 * person without another way to sign in.
 */
export async function removePasskey(
  parts: SignInParts,
  session: Session,
  id: string,
  exchange: Exchange,
): Promise<void> {
  await withTransaction(parts.sql, async (transaction) => {
    if (!(await deletePasskey(transaction, session.user.id, id))) {
      throw new GatewayError('not_found', { message: 'no such passkey' })
    }
    if (!(await canSignIn(transaction, session.user.id))) {
      throw noWayIn('add another passkey first')
    }
    await dropUnneededCodes(transaction, session.user.id)
  })
  await renewSession(parts, session, exchange)
}

function requestOptions(parts: SignInParts, challenge: Buffer, passkeys: readonly PasskeyRow[]) {
  return {
    challenge: challenge.toString('base64url'),
    rpId: domainOf(parts),
    timeout: TIMEOUT_MS,
    userVerification: 'required' as const,
    allowCredentials: passkeys.map((passkey) => ({
      ...describeCredential(passkey),
      transports: passkey.transports,
    })),
  }
}

function describeCredential({ credential_id }: PasskeyRow) {
  return { type: 'public-key' as const, id: credential_id.toString('base64url') }
}

async function refuseWith401<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    throw error instanceof PasskeyRefusal ? wrongPasskey(error) : error
  }
}

async function refuseWith400<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    if (!(error instanceof PasskeyRefusal)) throw error
    throw new GatewayError('invalid_request', {
      message: `credential: ${error.message}`,
      cause: error,
    })
  }
}
