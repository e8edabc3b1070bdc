/** SQL of people and their memberships. */
import type { Sql, TransactionSql } from 'postgres'
import { behind, mentioning } from '../../base/database/conditions.ts'
import type { MemberRole } from '../../base/lib/member-roles.ts'

export type PersonLanguage = 'en' | 'zh'

/** The role of a membership or an invitation in the row `m`. */
export const roleOf = (sql: Sql | TransactionSql, alias: 'm' | 'l') => {
  const row = sql(alias)
  return sql`case ${row}.role when 'owner' then 'owner' when 'member' then ${row}.member_role end`
}

/** Returns the columns of a role: `role` is the only one that the previous version knows. */
export function roleColumns(role: MemberRole) {
  return role === 'owner'
    ? ({ role: 'owner', member_role: 'developer' } as const)
    : ({ role: 'member', member_role: role } as const)
}

export interface ProfileChange {
  readonly name?: string | undefined
  readonly language?: PersonLanguage | undefined
}

export interface PersonRow {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly language: PersonLanguage
  readonly is_operator: boolean
  readonly password_hash: string | null
  readonly totp_secret: Buffer | null
  readonly totp_pending: Buffer | null
  readonly disabled_at: Date | null
  readonly created_at: Date
  readonly passkeys: number
}

const columns = (sql: Sql | TransactionSql) => sql`
  p.id, p.email, p.name, p.language, p.is_operator, p.password_hash, p.totp_secret,
  p.totp_pending, p.disabled_at, p.created_at,
  (select count(*)::int from passkey k where k.person_id = p.id) as passkeys`

/**
 * Compares `email.toLowerCase()`, since the database's lower-casing depends on its locale, and
 * rates are counted for exactly the same text.
 */
export async function findByEmail(
  sql: Sql | TransactionSql,
  email: string,
): Promise<PersonRow | undefined> {
  const [row] = await sql<PersonRow[]>`
    select ${columns(sql)} from person p where lower(p.email) = ${email.toLowerCase()}`
  return row
}

export async function findPerson(
  sql: Sql | TransactionSql,
  id: string,
): Promise<PersonRow | undefined> {
  const [row] = await sql<PersonRow[]>`select ${columns(sql)} from person p where p.id = ${id}`
  return row
}

/** Lists people, newest first, before the last id of the previous page. */
export function selectPeople(
  sql: Sql,
  filter: {
    readonly limit: number
    readonly beforeId?: string | undefined
    readonly search?: string | undefined
  },
): Promise<PersonRow[]> {
  const { limit, beforeId, search } = filter
  return sql<PersonRow[]>`
    select ${columns(sql)} from person p
    where true ${mentioning(sql, ['p.name', 'p.email', 'p.id'], search)}
      ${behind(sql, 'person', beforeId, { alias: 'p' })}
    order by p.created_at desc, p.id desc limit ${limit}`
}

export async function anyoneExists(sql: Sql | TransactionSql): Promise<boolean> {
  const found = await sql`select 1 from person limit 1`
  return found.length > 0
}

/**
 * Locks a person until the transaction ends, so that the second of two concurrent changes to their
 * sign-in methods sees the result of the first.
 */
export async function lockPerson(sql: TransactionSql, personId: string): Promise<void> {
  await sql`select 1 from person where id = ${personId} for no key update`
}

/**
 * Returns false for a person without a password, a passkey and an identity at a provider, and
 * locks them.
 */
export async function canSignIn(sql: TransactionSql, personId: string): Promise<boolean> {
  await lockPerson(sql, personId)
  const rows = await sql`
    select from person p where id = ${personId} and (password_hash is not null
      or exists (select from passkey k where k.person_id = p.id)
      or exists (select from person_identity i where i.person_id = p.id))`
  return rows.length > 0
}

/**
 * Returns the address as it is stored: as it was written, or in lower case if the database's locale
 * would lower-case it differently (Turkish: I becomes ı), since it would not be found again
 * otherwise.
 */
export const storedEmail = (sql: Sql | TransactionSql, email: string | null) => {
  const folded = email?.toLowerCase() ?? null
  return sql`case when lower(${email}::text) = ${folded} then ${email} else ${folded} end`
}

/** Returns false if the e-mail address is taken. */
export async function insertPerson(
  sql: Sql | TransactionSql,
  person: Pick<PersonRow, 'id' | 'email' | 'name' | 'language' | 'is_operator' | 'password_hash'>,
): Promise<boolean> {
  const { id, email, name, language, is_operator, password_hash } = person
  const inserted = await sql`
    insert into person (id, email, name, language, is_operator, password_hash)
    values (${id}, ${storedEmail(sql, email)}, ${name}, ${language}, ${is_operator},
      ${password_hash})
    on conflict do nothing`
  return inserted.count > 0
}

/** Absent members stay unchanged. */
export async function updateProfile(
  sql: Sql,
  id: string,
  { name, language }: ProfileChange,
): Promise<void> {
  await sql`
    update person set name = coalesce(${name ?? null}, name),
      language = coalesce(${language ?? null}, language)
    where id = ${id}`
}

export async function updatePassword(
  sql: Sql | TransactionSql,
  id: string,
  passwordHash: string,
): Promise<void> {
  await sql`update person set password_hash = ${passwordHash} where id = ${id}`
}

/**
 * Replaces a hash with another one of the same password, unless the password was changed meanwhile.
 */
export async function rehash(sql: Sql, id: string, old: string, fresh: string): Promise<void> {
  await sql`
    update person set password_hash = ${fresh} where id = ${id} and password_hash = ${old}`
}

export async function makeOperator(sql: TransactionSql, id: string): Promise<void> {
  await sql`update person set is_operator = true, operator_by = null where id = ${id}`
}

export async function updatePersonDisabled(
  sql: Sql | TransactionSql,
  id: string,
  isDisabled: boolean,
): Promise<void> {
  await sql`
    update person set disabled_at = ${isDisabled ? sql`coalesce(disabled_at, now())` : null}
    where id = ${id}`
}

export interface NewMembership {
  readonly personId: string
  readonly accountId: string
  readonly role: MemberRole
  /** The provider whose rules give it; absent for one given by hand. */
  readonly grantedBy?: string
}

/** Adds a membership or changes its role. */
export async function putMembership(
  sql: Sql | TransactionSql,
  membership: NewMembership,
): Promise<void> {
  const { role, member_role } = roleColumns(membership.role)
  await sql`
    insert into membership (person_id, account_id, role, member_role, granted_by)
    values (${membership.personId}, ${membership.accountId}, ${role}, ${member_role},
      ${membership.grantedBy ?? null})
    on conflict (person_id, account_id) do update set role = excluded.role,
      member_role = excluded.member_role, granted_by = excluded.granted_by,
      role_since = case when (membership.role, membership.member_role)
        = (excluded.role, excluded.member_role) then membership.role_since else now() end`
}

export interface MemberRow {
  readonly person_id: string
  readonly email: string
  readonly name: string
  readonly role: MemberRole
  readonly second_factor: boolean
  readonly disabled: boolean
  readonly created_at: Date
}

export function selectMembers(sql: Sql | TransactionSql, accountId: string): Promise<MemberRow[]> {
  return sql<MemberRow[]>`
    select p.id as person_id, p.email, p.name, ${roleOf(sql, 'm')} as role, m.created_at,
      p.disabled_at is not null as disabled,
      p.totp_secret is not null
        or exists (select 1 from passkey k where k.person_id = p.id) as second_factor
    from membership m join person p on p.id = m.person_id
    where m.account_id = ${accountId} order by m.created_at, p.id`
}

/**
 * Returns true for an owner of the account, and locks the membership until the transaction ends.
 */
export async function isOwner(
  sql: TransactionSql,
  accountId: string,
  personId: string,
): Promise<boolean> {
  const found = await sql`
    select 1 from membership where account_id = ${accountId} and person_id = ${personId}
      and role = 'owner' for share`
  return found.length > 0
}

/** Locks the memberships of an account until the transaction ends. */
export async function lockMembers(sql: TransactionSql, accountId: string): Promise<void> {
  await sql`select 1 from membership where account_id = ${accountId} order by person_id for update`
}

export async function deleteMembership(
  sql: TransactionSql,
  accountId: string,
  personId: string,
): Promise<void> {
  await sql`
    delete from membership where account_id = ${accountId} and person_id = ${personId}`
}

/** Ends the keys that belong to a person and their playground keys, in one account or in all. */
export async function endKeysOf(
  sql: TransactionSql,
  personId: string,
  accountId?: string,
): Promise<void> {
  await sql`
    update api_key set disabled_at = now()
    where disabled_at is null
      and (person_id = ${personId} or purpose = 'playground' and created_by = ${personId})
      ${accountId === undefined ? sql`` : sql`and account_id = ${accountId}`}`
}
