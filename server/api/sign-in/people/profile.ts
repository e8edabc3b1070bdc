/** The profile, sessions and factors that people see and change themselves. */
import { GatewayError } from '../../../base/lib/errors.ts'
import { countRecoveryCodes } from '../factors/factor-store.ts'
import { beginTotp, finishTotp, removeTotp, renewRecoveryCodes } from '../factors/factors.ts'
import type { Exchange, SignInParts } from '../parts.ts'
import { findPerson, type ProfileChange, updateProfile } from '../person-store.ts'
import type { Session } from '../sessions/session.ts'
import { deleteSession, deleteSessions, selectSessions } from '../sessions/session-store.ts'
import { renewSession } from '../sessions/sessions.ts'

export async function describeFactors({ sql }: SignInParts, personId: string) {
  const [person, codesLeft] = await Promise.all([
    findPerson(sql, personId),
    countRecoveryCodes(sql, personId),
  ])
  return {
    totp: person?.totp_secret !== null && person !== undefined,
    passkeys: person?.passkeys ?? 0,
    recovery_codes_left: codesLeft,
  }
}

export async function changeProfile(
  { sql }: SignInParts,
  { user }: Session,
  change: ProfileChange,
): Promise<void> {
  await updateProfile(sql, user.id, change)
}

export async function listSessions({ sql }: SignInParts, session: Session) {
  const rows = await selectSessions(sql, session.user.id)
  return rows.map((row) => ({ ...row, current: row.id === session.sessionId }))
}

/** Throws 404 for a session that is not this person's, or has ended. */
export async function endSession(
  { sql }: SignInParts,
  session: Session,
  id: string,
): Promise<void> {
  if (await deleteSession(sql, session.user.id, id)) return
  throw new GatewayError('not_found', { message: 'no such session' })
}

export async function endOtherSessions({ sql }: SignInParts, session: Session): Promise<void> {
  await deleteSessions(sql, session.user.id, session.sessionId)
}

export function startTotp(parts: SignInParts, session: Session) {
  return beginTotp(parts, session)
}

/**
 * Returns new recovery codes and ends the person's other sessions, as every change of factors does.
 */
export async function confirmTotp(
  parts: SignInParts,
  session: Session,
  code: string,
  exchange: Exchange,
): Promise<string[]> {
  const codes = await finishTotp(parts, session, code)
  await renewSession(parts, session, exchange)
  return codes
}

export async function dropTotp(
  parts: SignInParts,
  session: Session,
  exchange: Exchange,
): Promise<void> {
  await removeTotp(parts, session.user.id)
  await renewSession(parts, session, exchange)
}

export async function replaceCodes(
  parts: SignInParts,
  session: Session,
  exchange: Exchange,
): Promise<string[]> {
  const codes = await renewRecoveryCodes(parts, session.user.id)
  await renewSession(parts, session, exchange)
  return codes
}
