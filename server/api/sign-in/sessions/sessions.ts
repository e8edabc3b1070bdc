/** Sessions: opened with a new token after every successful sign-in, and ended. */
import type { IncomingMessage } from 'node:http'
import { newId } from '../../../base/lib/ids.ts'
import { writeAudit } from '../audit-log/audit-log.ts'
import type { Exchange, SignInParts } from '../parts.ts'
import { noStep } from '../refusals.ts'
import { readCookie, setCookie } from './cookies.ts'
import type { Session } from './session.ts'
import {
  deleteEnded,
  deleteSession,
  deleteSessions,
  findSession,
  insertSession,
  type PersonPart,
  replaceToken,
  type SessionRow,
  stepUp,
  touchSession,
} from './session-store.ts'
import { createToken, hashToken } from './token.ts'

/** The way the person signed in, for the audit log. */
export type AuthenticationMethod =
  | 'password'
  | 'totp'
  | 'recovery_code'
  | 'passkey'
  | 'set-up'
  | 'invitation'
  | 'provider'
  | 'sign-up'
  | 'demo'

const STEP_UP_SECONDS = 600
const USER_AGENT_MAX = 300

/**
 * Returns the session of the request's cookie, if it and its person are valid. Extends the idle
 * time unless `quietly` is set.
 */
export async function identifySession(
  parts: SignInParts,
  request: IncomingMessage,
  { quietly = false } = {},
): Promise<Session | undefined> {
  const tokenHash = hashToken(readCookie(request, 'session', parts.consoleAddress))
  const row = tokenHash && (await findSession(parts.sql, tokenHash))
  if (!row) return undefined
  if (row.is_stale && !quietly) await touchSession(parts.sql, row.id)
  return describe(row, parts.operatorsNeedFactor())
}

function describe(row: SessionRow, operatorsNeedFactor: boolean): Session {
  return {
    sessionId: row.id,
    ...describePerson(row, operatorsNeedFactor),
    steppedUpUntil: row.stepped_up_until ?? undefined,
  }
}

/** Returns the facts that sessions and access tokens share. */
export function describePerson(
  row: PersonPart,
  operatorsNeedFactor: boolean,
): Pick<Session, 'user' | 'memberships' | 'secondFactorMissing'> {
  return {
    user: {
      id: row.person_id,
      email: row.email,
      name: row.name,
      language: row.language,
      operator: row.is_operator,
    },
    memberships: row.memberships.map((one) => ({
      accountId: one.account_id,
      accountName: one.account_name,
      role: one.role,
    })),
    secondFactorMissing: row.is_operator && !row.has_factor && operatorsNeedFactor,
  }
}

/** The password, or the provider, that proved who the person is. */
export interface ProvedBy {
  /** The hash that was compared: the session opens only while it is still the person's. */
  readonly passwordHash?: string | null
  readonly providerId?: string
  readonly idToken?: string
  /** True if the provider stated a second factor. */
  readonly hasFactor?: boolean
  /** False if the provider states that the proof is old: then the session must step up. */
  readonly isFresh?: boolean
}

/** The context in which the ID token of a session is sealed. */
export function idTokenContext(sessionId: string): string {
  return `id_token:${sessionId}`
}

/**
 * Signs a person in. The token is always new, so that it cannot have been planted; the browser's
 * previous session ends. Throws 401 for a person who was locked out, or whose password was changed,
 * since the proof.
 */
export async function openSession(
  parts: SignInParts,
  personId: string,
  { request, response }: Exchange,
  proof: AuthenticationMethod,
  by: ProvedBy = {},
): Promise<void> {
  const { sql, consoleAddress, addresses } = parts
  const before = await identifySession(parts, request)
  if (before) await deleteSession(sql, before.user.id, before.sessionId)
  const id = newId('ses')
  const { token, tokenHash } = createToken()
  const { passwordHash = null, providerId = null, hasFactor = false, isFresh = true } = by
  const isOpen = await insertSession(sql, {
    id,
    personId,
    tokenHash,
    passwordHash,
    steppedUpSeconds: isFresh ? STEP_UP_SECONDS : 0,
    providerId,
    idToken: by.idToken ? parts.secrets.seal(by.idToken, idTokenContext(id)) : null,
    hasFactor,
    ip: addresses.of(request),
    userAgent: String(request.headers['user-agent'] ?? '').slice(0, USER_AGENT_MAX),
  })
  if (!isOpen) throw noStep()
  const ip = addresses.of(request)
  await writeAudit(sql, {
    actor: personId,
    ip,
    action: 'sign-in',
    target: id,
    details: { proof, provider: by.providerId },
  })
  setCookie(response, 'session', token, consoleAddress)
  await deleteEnded(sql)
}

/**
 * Ends every other session after a change of a password or factor, and gives this one a new token.
 */
export async function renewSession(
  { sql, consoleAddress }: SignInParts,
  session: Session,
  { response }: Exchange,
): Promise<void> {
  await deleteSessions(sql, session.user.id, session.sessionId)
  const { token, tokenHash } = createToken()
  await replaceToken(sql, session.sessionId, tokenHash)
  setCookie(response, 'session', token, consoleAddress)
}

export async function signOut(
  { sql, consoleAddress }: SignInParts,
  session: Session,
  { response }: Exchange,
): Promise<void> {
  await deleteSession(sql, session.user.id, session.sessionId)
  setCookie(response, 'session', undefined, consoleAddress)
}

/** Steps the session up for ten minutes. */
export async function markSteppedUp({ sql }: SignInParts, session: Session): Promise<Date> {
  const until = await stepUp(sql, session.sessionId, STEP_UP_SECONDS)
  if (!until) throw new Error(`the session ${session.sessionId} is gone`)
  return until
}
