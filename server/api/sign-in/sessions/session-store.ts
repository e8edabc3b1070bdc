/** SQL of sessions. PostgreSQL's clock decides which are valid. */
import type { PendingQuery, Row, Sql, TransactionSql } from 'postgres'
import type { MemberRole } from '../../../base/lib/member-roles.ts'
import { type PersonLanguage, roleOf } from '../person-store.ts'

/** A session ends after half an hour without a request, and after twelve hours in any case. */
const isLive = (sql: Sql | TransactionSql) => sql`
  s.seen_at > now() - interval '30 minutes' and s.created_at > now() - interval '12 hours'`

/** The facts about a person that sessions and access tokens share. */
export interface PersonPart {
  readonly person_id: string
  readonly email: string
  readonly name: string
  readonly language: PersonLanguage
  readonly is_operator: boolean
  readonly has_factor: boolean
  readonly memberships: readonly {
    readonly account_id: string
    readonly account_name: string
    readonly role: MemberRole
  }[]
}

export interface SessionRow extends PersonPart {
  readonly id: string
  readonly stepped_up_until: Date | null
  /** True if `seen_at` is older than a minute. */
  readonly is_stale: boolean
}

/** Columns of the person `p`. */
export const hasFactor = (sql: Sql | TransactionSql) => sql`
  (p.totp_secret is not null or exists (select 1 from passkey k where k.person_id = p.id))`

/** The memberships `m` of the person `p` that meet a condition, as JSON. */
export const selectMemberships = (sql: Sql | TransactionSql, condition: PendingQuery<Row[]>) => sql`
  coalesce((
    select json_agg(json_build_object('account_id', m.account_id, 'account_name', a.name,
      'role', ${roleOf(sql, 'm')}) order by a.created_at, a.id)
    from membership m join account a on a.id = m.account_id
    where m.person_id = p.id and ${condition}), '[]')`

/** Returns the session of this token with its person, if both are valid. */
export async function findSession(sql: Sql, tokenHash: Buffer): Promise<SessionRow | undefined> {
  const [row] = await sql<SessionRow[]>`
    select s.id, s.person_id, p.email, p.name, p.language, p.is_operator,
      ${hasFactor(sql)} or s.has_factor as has_factor,
      ${selectMemberships(sql, sql`true`)} as memberships,
      s.stepped_up_until, s.seen_at < now() - interval '1 minute' as is_stale
    from console_session s join person p on p.id = s.person_id
    where s.token_hash = ${tokenHash} and p.disabled_at is null and ${isLive(sql)}`
  return row
}

export async function touchSession(sql: Sql, id: string): Promise<void> {
  await sql`update console_session set seen_at = now() where id = ${id}`
}

/**
 * A session that was just opened counts as stepped up. Returns false if the person was disabled, or
 * if the password has changed since it was compared. Whatever ends sessions changes the person
 * first, so it either waits for this session and ends it, or prevents it from being opened.
 */
export async function insertSession(
  sql: Sql | TransactionSql,
  session: {
    readonly id: string
    readonly personId: string
    readonly tokenHash: Buffer
    readonly steppedUpSeconds: number
    readonly ip: string
    readonly userAgent: string
    /** The provider that opened it, and its ID token, sealed. */
    readonly providerId?: string | null
    readonly idToken?: Buffer | null
    readonly hasFactor?: boolean
    /** The hash of the password that was compared; absent for another proof. */
    readonly passwordHash?: string | null
  },
): Promise<boolean> {
  const { id, personId, tokenHash, steppedUpSeconds, ip, userAgent, passwordHash = null } = session
  const { providerId = null, idToken = null, hasFactor: isProved = false } = session
  const inserted = await sql`
    insert into console_session (id, person_id, token_hash, stepped_up_until, ip, user_agent,
      provider_id, id_token, has_factor)
    select ${id}, p.id, ${tokenHash},
      now() + make_interval(secs => ${steppedUpSeconds}), ${ip}, ${userAgent}, ${providerId},
      ${idToken}, ${isProved}
    from person p where p.id = ${personId} and p.disabled_at is null
      and (${passwordHash}::text is null or p.password_hash = ${passwordHash})
    for share of p`
  return inserted.count > 0
}

/** Returns the provider that opened a session, with its sealed ID token. */
export async function findSessionProvider(sql: Sql, id: string) {
  const [row] = await sql<{ provider_id: string | null; id_token: Buffer | null }[]>`
    select provider_id, id_token from console_session where id = ${id}`
  return row
}

export interface SessionView {
  readonly id: string
  readonly created_at: Date
  readonly seen_at: Date
  readonly ip: string
  readonly user_agent: string
}

export function selectSessions(sql: Sql, personId: string): Promise<SessionView[]> {
  return sql<SessionView[]>`
    select s.id, s.created_at, s.seen_at, s.ip, s.user_agent from console_session s
    where s.person_id = ${personId} and ${isLive(sql)} order by s.seen_at desc, s.id limit 200`
}

/** Returns false if this person has no such session. */
export async function deleteSession(sql: Sql, personId: string, id: string): Promise<boolean> {
  const deleted = await sql`
    delete from console_session where id = ${id} and person_id = ${personId}`
  return deleted.count > 0
}

/**
 * Ends all sessions of a person except `keptId`, and the sign-ins in progress: earlier proofs no
 * longer count. Returns the number of sessions.
 */
export async function deleteSessions(
  sql: Sql | TransactionSql,
  personId: string,
  keptId?: string,
): Promise<number> {
  await sql`delete from sign_in_step where person_id = ${personId}`
  const deleted = await sql`
    delete from console_session where person_id = ${personId} and id <> ${keptId ?? ''}`
  return deleted.count
}

export async function replaceToken(
  sql: Sql | TransactionSql,
  id: string,
  tokenHash: Buffer,
): Promise<void> {
  await sql`update console_session set token_hash = ${tokenHash} where id = ${id}`
}

export async function stepUp(sql: Sql, id: string, seconds: number): Promise<Date | undefined> {
  const [row] = await sql<{ until: Date }[]>`
    update console_session set stepped_up_until = now() + make_interval(secs => ${seconds})
    where id = ${id} returning stepped_up_until as until`
  return row?.until
}

/**
 * Stores the challenge that a passkey must sign within five minutes, in place of an earlier one.
 */
export async function putChallenge(sql: Sql, id: string, challenge: Buffer): Promise<void> {
  await sql`
    update console_session set challenge = ${challenge},
      challenge_until = now() + interval '5 minutes'
    where id = ${id}`
}

/** Deletes the challenge and returns it. */
export async function takeChallenge(sql: Sql, id: string): Promise<Buffer | undefined> {
  const [row] = await sql<{ challenge: Buffer }[]>`
    with asked as (
      select id, challenge from console_session
      where id = ${id} and challenge_until > now() for update
    )
    update console_session s set challenge = null, challenge_until = null
    from asked where s.id = asked.id returning asked.challenge`
  return row?.challenge
}

/** Deletes expired sessions. */
export async function deleteEnded(sql: Sql): Promise<void> {
  await sql`delete from console_session s where not (${isLive(sql)})`
}
