/** Codes as second factors: of an authenticator app, or from the list of recovery codes. */
import { hash } from 'node:crypto'
import type { TransactionSql } from 'postgres'
import { withTransaction } from '../../../base/database/transaction.ts'
import { GatewayError, invalidField } from '../../../base/lib/errors.ts'
import { randomText } from '../../../base/lib/ids.ts'
import { reseal, type SecretBox, sealedWith } from '../../../base/lib/secrets/secrets.ts'
import type { SignInParts } from '../parts.ts'
import { findPerson, lockPerson, type PersonRow } from '../person-store.ts'
import { wrongCode } from '../refusals.ts'
import {
  consumeRecoveryCode,
  consumeTotpStep,
  countRecoveryCodes,
  deleteTotp,
  lockSealedTotp,
  putPendingTotp,
  replaceRecoveryCodes,
  resealTotp,
  storeConfirmedTotp,
} from './factor-store.ts'
import { createTotpSecret, isOfAnotherTime, matchTotp, totpUri } from './totp.ts'

export type Factor = 'totp' | 'passkey' | 'recovery_code'

/** Exactly one of the two. */
export interface SubmittedCode {
  readonly code?: string | undefined
  readonly recovery_code?: string | undefined
}

const RECOVERY_CODES = 10
/** Lower-case base 62 folded to 36 letters and digits: 16 of them carry over 80 bits. */
const RECOVERY_LENGTH = 16

/** Returns the kinds of second factor that a person has set up. */
export async function listFactors({ sql }: SignInParts, person: PersonRow): Promise<Factor[]> {
  const own: Factor[] = [
    ...(person.totp_secret ? (['totp'] as const) : []),
    ...(person.passkeys > 0 ? (['passkey'] as const) : []),
  ]
  if (own.length === 0) return []
  return (await countRecoveryCodes(sql, person.id)) > 0 ? [...own, 'recovery_code'] : own
}

/** Throws 401 for a wrong or used code, 429 after too many. */
export async function verifyCode(
  parts: SignInParts,
  person: PersonRow,
  submitted: SubmittedCode,
): Promise<'totp' | 'recovery_code'> {
  await parts.throttle.take('factor', person.id)
  const proof = submitted.recovery_code === undefined ? 'totp' : 'recovery_code'
  const isRight =
    submitted.recovery_code === undefined
      ? await isRightTotp(parts, person, submitted.code ?? '')
      : await consumeRecoveryCode(parts.sql, person.id, hashRecoveryCode(submitted.recovery_code))
  if (!isRight) throw wrongCode()
  await parts.throttle.giveBack('factor', person.id)
  return proof
}

async function isRightTotp(parts: SignInParts, person: PersonRow, code: string): Promise<boolean> {
  if (!person.totp_secret) return false
  const secret = parts.secrets.open(person.totp_secret, totpContext(person.id))
  const step = await matchTotp(secret, code.replace(/\s/g, ''), parts.nowMs())
  return step !== undefined && (await consumeTotpStep(parts.sql, person.id, step))
}

/**
 * Returns a secret that takes effect with its first code. Until then the same session gets the same
 * secret again, so that a reloaded page and a second window show what the app has scanned.
 */
export async function beginTotp(
  parts: SignInParts,
  { user, sessionId }: TotpSession,
): Promise<{ secret: string; uri: string }> {
  const { sql, secrets } = parts
  const offered = readOffer(parts, await findPerson(sql, user.id))
  const secret = offered?.sessionId === sessionId ? offered.secret : await createTotpSecret()
  const text = `${secret}${OFFER_SEPARATOR}${sessionId}`
  await putPendingTotp(sql, user.id, secrets.seal(text, totpContext(user.id)))
  return { secret, uri: await totpUri(secret, user.email) }
}

/** The parts of a session that an authenticator app is added in. */
export interface TotpSession {
  readonly sessionId: string
  readonly user: { readonly id: string; readonly email: string }
}

/** Separates an unconfirmed secret from the session that it was shown to. */
const OFFER_SEPARATOR = ':'

function readOffer({ secrets }: SignInParts, person: PersonRow | undefined) {
  if (!person?.totp_pending) return undefined
  const text = secrets.open(person.totp_pending, totpContext(person.id))
  const [secret = '', sessionId = ''] = text.split(OFFER_SEPARATOR)
  return { secret, sessionId }
}

/**
 * Confirms a secret with its first code and returns new recovery codes. Throws 400 for a wrong
 * code, 409 if this session was not shown a secret, or if another session has since been shown a
 * new one.
 */
export async function finishTotp(
  parts: SignInParts,
  { user, sessionId }: TotpSession,
  code: string,
): Promise<string[]> {
  const { sql, secrets, throttle } = parts
  const offered = readOffer(parts, await findPerson(sql, user.id))
  if (!offered) throw new GatewayError('conflict', { message: NO_OFFER })
  if (offered.sessionId && offered.sessionId !== sessionId) {
    throw new GatewayError('conflict', { message: OTHER_OFFER })
  }
  await throttle.take('factor', user.id)
  const step = await matchTotp(offered.secret, code.replace(/\s/g, ''), parts.nowMs())
  if (step === undefined) {
    throw invalidField('code', await explainWrongCode(offered.secret, code, parts))
  }
  await throttle.giveBack('factor', user.id)
  const sealed = secrets.seal(offered.secret, totpContext(user.id))
  return await withTransaction(sql, async (transaction) => {
    if (!(await storeConfirmedTotp(transaction, user.id, sealed, step))) {
      throw new GatewayError('conflict', { message: NO_OFFER })
    }
    return await putRecoveryCodes(transaction, user.id)
  })
}

const NO_OFFER =
  'no authenticator app is waiting for its first code: another window may have confirmed it'
const OTHER_OFFER =
  'another browser has started adding an app since then: start again, and scan the new QR code'

/** The person has seen the secret, so the reason reveals nothing. */
async function explainWrongCode(
  secret: string,
  code: string,
  { nowMs }: SignInParts,
): Promise<string> {
  const digits = code.replace(/\s/g, '')
  if (!/^\d{6}$/.test(digits)) return 'must be the six digits that the app shows'
  return (await isOfAnotherTime(secret, digits, nowMs()))
    ? 'is not the current code: type the one shown now, and check the clock of the device'
    : 'is wrong: type the code that the app shows now for this QR code'
}

/** Deletes the recovery codes together with the last factor. */
export async function removeTotp({ sql }: SignInParts, personId: string): Promise<void> {
  await withTransaction(sql, async (transaction) => {
    await deleteTotp(transaction, personId)
    await dropUnneededCodes(transaction, personId)
  })
}

/** Deletes the recovery codes of a locked person without a factor that they stand in for. */
export async function dropUnneededCodes(
  transaction: TransactionSql,
  personId: string,
): Promise<void> {
  const person = await findPerson(transaction, personId)
  if (person && !person.totp_secret && person.passkeys === 0) {
    await replaceRecoveryCodes(transaction, personId, [])
  }
}

/** Throws 409 without a factor, since recovery codes stand in for one. */
export async function renewRecoveryCodes(
  { sql }: SignInParts,
  personId: string,
): Promise<string[]> {
  return await withTransaction(sql, async (transaction) => {
    await lockPerson(transaction, personId)
    const person = await findPerson(transaction, personId)
    if (!person?.totp_secret && !person?.passkeys) {
      throw new GatewayError('conflict', { message: 'add an authenticator app or a passkey first' })
    }
    return await putRecoveryCodes(transaction, personId)
  })
}

export async function putRecoveryCodes(
  transaction: TransactionSql,
  personId: string,
): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, createRecoveryCode)
  await replaceRecoveryCodes(transaction, personId, codes.map(hashRecoveryCode))
  return codes
}

/** Formats a code in four groups that a person can read aloud: `k3f9-…`. */
function createRecoveryCode(): string {
  const text = randomText(RECOVERY_LENGTH).toLowerCase()
  return text.match(/.{4}/g)?.join('-') ?? text
}

/** Normalises a typed code: punctuation, spaces and capitals do not matter. */
function hashRecoveryCode(code: string): Buffer {
  return hash('sha256', code.toLowerCase().replace(/[^0-9a-z]/g, ''), 'buffer')
}

function totpContext(personId: string): string {
  return `totp:${personId}`
}

/** Reseals all authenticator secrets with the newest key, all or none. */
export async function rekeyTotp(
  transaction: TransactionSql,
  box: SecretBox,
  dropsLost = false,
): Promise<{ readonly changed: number; readonly kept: number; readonly dropped: number }> {
  const rows = await lockSealedTotp(transaction)
  const isOld = (sealed: Buffer | null) => sealed !== null && sealedWith(sealed) !== box.keyId
  const old = rows.filter((row) => isOld(row.totp_secret) || isOld(row.totp_pending))
  let dropped = 0
  for (const { id, totp_secret, totp_pending } of old) {
    const again = (sealed: Buffer | null) =>
      sealed && reseal(box, sealed, totpContext(id), dropsLost)
    const resealed = { totp_secret: again(totp_secret), totp_pending: again(totp_pending) }
    if (totp_secret && !resealed.totp_secret) dropped += 1
    await resealTotp(transaction, { id, ...resealed })
  }
  return { changed: old.length - dropped, kept: rows.length - old.length, dropped }
}
