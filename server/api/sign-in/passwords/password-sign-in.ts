/** Passwords: signing in, stepping up, and changing the password. */
import { withTransaction } from '../../../base/database/transaction.ts'
import { GatewayError, invalidField } from '../../../base/lib/errors.ts'
import { writeAudit } from '../audit-log/audit-log.ts'
import { type Factor, listFactors, type SubmittedCode, verifyCode } from '../factors/factors.ts'
import type { Exchange, SignInParts } from '../parts.ts'
import { findByEmail, findPerson, type PersonRow, rehash, updatePassword } from '../person-store.ts'
import type { Subject } from '../rates/throttle.ts'
import { noStep, wrongCode, wrongPassword } from '../refusals.ts'
import type { Session } from '../sessions/session.ts'
import { markSteppedUp, openSession, renewSession } from '../sessions/sessions.ts'
import { beginStep, endStep, readStep } from '../sessions/steps.ts'
import { checkPassword } from './password-rules.ts'

/** The result of one step of a sign-in. */
export interface SignInOutcome {
  readonly status: 'signed_in' | 'second_factor'
  /** The second factors with which the sign-in can continue. */
  readonly methods: Factor[]
}

export const SIGNED_IN: SignInOutcome = { status: 'signed_in', methods: [] }

/**
 * Signs in, or asks for a second factor. Throws the same 401 after the same work for an unknown
 * person, a disabled one and a wrong password; 429 after too many attempts. A password that is
 * changed between its comparison and the session opens none.
 */
export async function signInWithPassword(
  parts: SignInParts,
  credentials: { readonly email: string; readonly password: string },
  exchange: Exchange,
): Promise<SignInOutcome> {
  const rate = { subject: 'name', name: credentials.email.toLowerCase() } as const
  const person = await comparePassword(parts, credentials, rate, exchange)
  const { password_hash: passwordHash } = person
  const methods = await listFactors(parts, person)
  if (methods.length > 0) {
    await beginStep(parts, exchange, { personId: person.id, challenge: null, passwordHash })
    return { status: 'second_factor', methods }
  }
  await openSession(parts, person.id, exchange, 'password', { passwordHash })
  return SIGNED_IN
}

async function comparePassword(
  parts: SignInParts,
  { email, password }: { readonly email: string; readonly password: string },
  rate: { readonly subject: Subject; readonly name: string },
  { request }: Exchange,
): Promise<PersonRow> {
  const { sql, passwords, throttle, addresses } = parts
  const network = addresses.networkOf(request)
  await throttle.take('address', network)
  await throttle.take(rate.subject, rate.name)
  const found = await findByEmail(sql, email)
  const person = found && !found.disabled_at ? found : undefined
  const { isRight, isStale } = await passwords.verify(password, person?.password_hash ?? null)
  if (!person || !isRight) {
    const ip = addresses.of(request)
    // People sometimes type their password as the address, so only known people's ids are recorded.
    await writeAudit(sql, {
      actor: undefined,
      ip,
      action: 'sign-in failed',
      target: found?.id ?? '',
    })
    throw wrongPassword()
  }
  await throttle.giveBack('address', network)
  await throttle.giveBack(rate.subject, rate.name)
  if (isStale && person.password_hash) {
    const fresh = await passwords.hash(password)
    await rehash(sql, person.id, person.password_hash, fresh)
    return { ...person, password_hash: fresh }
  }
  return person
}

/** Checks the password of a person who is signed in. */
function compareOwn(parts: SignInParts, { user }: Session, password: string, exchange: Exchange) {
  const rate = { subject: 'own', name: user.id } as const
  return comparePassword(parts, { email: user.email, password }, rate, exchange)
}

/** Completes a sign-in after the password. Throws 401 and 429. */
export async function finishWithCode(
  parts: SignInParts,
  code: SubmittedCode,
  exchange: Exchange,
): Promise<SignInOutcome> {
  const step = await readStep(parts, exchange)
  const person = step?.person_id ? await findPerson(parts.sql, step.person_id) : undefined
  if (!step || !person || person.disabled_at) throw noStep()
  const proof = await verifyCodeOrRecord(parts, person, code, exchange)
  if (!(await endStep(parts, exchange, step.tokenHash))) throw noStep()
  const { password_hash: passwordHash } = person
  await openSession(parts, person.id, exchange, proof, { passwordHash })
  return SIGNED_IN
}

async function verifyCodeOrRecord(
  parts: SignInParts,
  person: PersonRow,
  code: SubmittedCode,
  { request }: Exchange,
) {
  try {
    return await verifyCode(parts, person, code)
  } catch (error) {
    if (error instanceof GatewayError && error.row === 'unauthenticated') {
      const ip = parts.addresses.of(request)
      const target = person.id
      await writeAudit(parts.sql, { actor: undefined, ip, action: 'second factor failed', target })
    }
    throw error
  }
}

/**
 * Proves a session again with the password and, if set up, a code of the second factor. Throws 401
 * and 429.
 */
export async function stepUpWithPassword(
  parts: SignInParts,
  session: Session,
  proof: SubmittedCode & { readonly password: string },
  exchange: Exchange,
): Promise<Date> {
  const person = await compareOwn(parts, session, proof.password, exchange)
  const methods = await listFactors(parts, person)
  if (methods.length > 0) {
    if (proof.code === undefined && proof.recovery_code === undefined) throw wrongCode()
    await verifyCodeOrRecord(parts, person, proof, exchange)
  }
  return await markSteppedUp(parts, session)
}

/**
 * Changes the password and ends every other session. Throws 400 for an unacceptable password, 401
 * and 429.
 */
export async function changePassword(
  parts: SignInParts,
  session: Session,
  passwords: { readonly current: string; readonly fresh: string },
  exchange: Exchange,
): Promise<void> {
  const { id, email } = session.user
  checkPassword(passwords.fresh, email, 'new_password')
  if (passwords.fresh === passwords.current)
    throw invalidField('new_password', 'is your current password')
  await compareOwn(parts, session, passwords.current, exchange)
  const hash = await parts.passwords.hash(passwords.fresh)
  await withTransaction(parts.sql, (transaction) => updatePassword(transaction, id, hash))
  await renewSession(parts, session, exchange)
}
