/** Passwords: signing in with one, proving it again, and changing it. */
import { withTransaction } from '../../database/transaction.ts'
import { GatewayError, invalidField } from '../../lib/errors.ts'
import { writeAudit } from '../audit-log/audit-log.ts'
import { type Factor, type GivenCode, listFactors, proveCode } from '../factors/factors.ts'
import type { Exchange, SignInParts } from '../parts.ts'
import { findByEmail, findPerson, type PersonRow, rehash, updatePassword } from '../person-store.ts'
import type { Subject } from '../rates/throttle.ts'
import { noStep, wrongCode, wrongPassword } from '../refusals.ts'
import type { Session } from '../sessions/session.ts'
import { markSteppedUp, openSession, renewSession } from '../sessions/sessions.ts'
import { beginStep, endStep, readStep } from '../sessions/steps.ts'
import { checkPassword } from './password-rules.ts'

/** What came of one step of a sign-in. */
export interface SignInOutcome {
  readonly status: 'signed_in' | 'second_factor'
  /** How to go on. */
  readonly methods: Factor[]
}

export const SIGNED_IN: SignInOutcome = { status: 'signed_in', methods: [] }

/**
 * Signs in, or asks for a second factor. Throws the same 401, after the same work, whoever is not
 * known, is locked out, or has another password; 429 after too many.
 */
export async function signInWithPassword(
  parts: SignInParts,
  given: { readonly email: string; readonly password: string },
  exchange: Exchange,
): Promise<SignInOutcome> {
  const asked = { subject: 'name', name: given.email.toLowerCase() } as const
  const person = await comparePassword(parts, given, asked, exchange)
  const methods = await listFactors(parts, person)
  if (methods.length > 0) {
    await beginStep(parts, exchange, { personId: person.id, challenge: null })
    return { status: 'second_factor', methods }
  }
  await openSession(parts, person.id, exchange, 'password')
  return SIGNED_IN
}

async function comparePassword(
  parts: SignInParts,
  { email, password }: { readonly email: string; readonly password: string },
  asked: { readonly subject: Subject; readonly name: string },
  { request }: Exchange,
): Promise<PersonRow> {
  const { sql, passwords, throttle, addresses } = parts
  const line = addresses.lineOf(request)
  await throttle.take('address', line)
  await throttle.take(asked.subject, asked.name)
  const found = await findByEmail(sql, email)
  const person = found && !found.disabled_at ? found : undefined
  const { isRight, isStale } = await passwords.verify(password, person?.password_hash ?? null)
  if (!person || !isRight) {
    const ip = addresses.of(request)
    // What was typed as the address may be a password: only whom it names is kept.
    await writeAudit(sql, {
      actor: undefined,
      ip,
      action: 'sign-in failed',
      target: found?.id ?? '',
    })
    throw wrongPassword()
  }
  await throttle.giveBack('address', line)
  await throttle.giveBack(asked.subject, asked.name)
  if (isStale && person.password_hash) {
    await rehash(sql, person.id, person.password_hash, await passwords.hash(password))
  }
  return person
}

/** The password of who is signed in already. */
function compareOwn(parts: SignInParts, { user }: Session, password: string, exchange: Exchange) {
  const asked = { subject: 'own', name: user.id } as const
  return comparePassword(parts, { email: user.email, password }, asked, exchange)
}

/** Finishes a sign-in whose password was right. Throws 401 and 429. */
export async function finishWithCode(
  parts: SignInParts,
  given: GivenCode,
  exchange: Exchange,
): Promise<SignInOutcome> {
  const step = await readStep(parts, exchange)
  const person = step?.person_id ? await findPerson(parts.sql, step.person_id) : undefined
  if (!step || !person || person.disabled_at) throw noStep()
  const proof = await proveCodeOrTell(parts, person, given, exchange)
  if (!(await endStep(parts, exchange, step.tokenHash))) throw noStep()
  await openSession(parts, person.id, exchange, proof)
  return SIGNED_IN
}

async function proveCodeOrTell(
  parts: SignInParts,
  person: PersonRow,
  given: GivenCode,
  { request }: Exchange,
) {
  try {
    return await proveCode(parts, person, given)
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
 * Proves a session again, with the password and, where there is a second factor, a code of it.
 * Throws 401 and 429.
 */
export async function stepUpWithPassword(
  parts: SignInParts,
  session: Session,
  given: GivenCode & { readonly password: string },
  exchange: Exchange,
): Promise<Date> {
  const person = await compareOwn(parts, session, given.password, exchange)
  const methods = await listFactors(parts, person)
  if (methods.length > 0) {
    if (given.code === undefined && given.recovery_code === undefined) throw wrongCode()
    await proveCodeOrTell(parts, person, given, exchange)
  }
  return await markSteppedUp(parts, session)
}

/** Ends every other session. Throws 400 for a password that is not taken, 401 and 429. */
export async function changePassword(
  parts: SignInParts,
  session: Session,
  given: { readonly current: string; readonly fresh: string },
  exchange: Exchange,
): Promise<void> {
  const { id, email } = session.user
  checkPassword(given.fresh, email, 'new_password')
  if (given.fresh === given.current) throw invalidField('new_password', 'is the one you have')
  await compareOwn(parts, session, given.current, exchange)
  const hash = await parts.passwords.hash(given.fresh)
  await withTransaction(parts.sql, (transaction) => updatePassword(transaction, id, hash))
  await renewSession(parts, session, exchange)
}
