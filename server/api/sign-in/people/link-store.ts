/** SQL of one-use links. */
import type { Sql, TransactionSql } from 'postgres'
import type { MemberRole } from '../../../base/lib/member-roles.ts'
import { roleColumns, roleOf, storedEmail } from '../person-store.ts'

export interface LinkRow {
  readonly id: string
  readonly kind: 'setup' | 'invitation' | 'reset' | 'sign_up'
  readonly email: string | null
  readonly account_id: string | null
  readonly account_name: string | null
  readonly role: MemberRole | null
  readonly is_operator: boolean
  readonly person_id: string | null
  readonly created_by: string
  readonly created_at: Date
  readonly expires_at: Date
}

type Stored = Pick<
  LinkRow,
  'id' | 'kind' | 'email' | 'account_id' | 'role' | 'is_operator' | 'person_id' | 'created_by'
>

export async function insertLink(
  sql: Sql | TransactionSql,
  link: Stored & { readonly tokenHash: Buffer; readonly seconds: number },
): Promise<void> {
  const { role, member_role } = link.role
    ? roleColumns(link.role)
    : ({ role: null, member_role: 'developer' } as const)
  await sql`
    insert into console_link (id, kind, token_hash, email, account_id, role, member_role,
      is_operator, person_id, created_by, expires_at)
    values (${link.id}, ${link.kind}, ${link.tokenHash}, ${storedEmail(sql, link.email)},
      ${link.account_id}, ${role}, ${member_role}, ${link.is_operator}, ${link.person_id},
      ${link.created_by}, now() + make_interval(secs => ${link.seconds}))`
}

/**
 * Links of people who may not create them any more are void: their creator was disabled, or has
 * lost the account, while the link was being created. Links of the command line have no person.
 */
const mayInvite = (sql: Sql | TransactionSql) => sql`
  not exists (
    select 1 from person p
    left join membership m on m.person_id = p.id and m.account_id = l.account_id
    where p.id = l.created_by and (p.disabled_at is not null
      or not (p.is_operator or l.kind <> 'invitation' or coalesce(m.role = 'owner', false))))`

const open = (sql: Sql | TransactionSql) => sql`
  select l.id, l.kind, l.email, l.account_id, a.name as account_name,
    ${roleOf(sql, 'l')} as role, l.is_operator, l.person_id, l.created_by, l.created_at,
    l.expires_at
  from console_link l left join account a on a.id = l.account_id
  where l.used_at is null and l.expires_at > now() and ${mayInvite(sql)}`

/** Returns an unused link that has not expired. */
export async function findLink(
  sql: Sql | TransactionSql,
  kind: LinkRow['kind'],
  tokenHash: Buffer,
): Promise<LinkRow | undefined> {
  const [row] = await sql<LinkRow[]>`
    ${open(sql)} and l.kind = ${kind} and l.token_hash = ${tokenHash}`
  return row
}

export function selectInvitations(
  sql: Sql,
  filter: { readonly accountId: string | null },
): Promise<LinkRow[]> {
  return sql<LinkRow[]>`
    ${open(sql)} and l.kind = 'invitation' and l.account_id is not distinct from ${filter.accountId}
    order by l.created_at desc, l.id limit 200`
}

/** Returns false if another request has used the link. */
export async function consumeLink(sql: TransactionSql, id: string): Promise<boolean> {
  const used = await sql`
    update console_link l set used_at = now()
    where id = ${id} and used_at is null and expires_at > now() and ${mayInvite(sql)}`
  return used.count > 0
}

export async function deleteInvitation(
  sql: Sql,
  accountId: string | null,
  id: string,
): Promise<boolean> {
  const deleted = await sql`
    delete from console_link where id = ${id} and kind = 'invitation' and used_at is null
      and account_id is not distinct from ${accountId}`
  return deleted.count > 0
}

/** Deletes the open links that a person has created: to one account, or all of them. */
export async function deleteInvitationsOf(
  sql: TransactionSql,
  personId: string,
  accountId?: string,
): Promise<void> {
  await sql`
    delete from console_link where created_by = ${personId} and used_at is null
      ${accountId === undefined ? sql`` : sql`and account_id = ${accountId}`}`
}

/** The account that invites. */
export interface Inviter {
  readonly name: string
  /** The confirmed address of who opened it by signing up, as long as nobody has topped it up. */
  readonly signed_up: string | null
}

export async function readInviter(sql: Sql, accountId: string): Promise<Inviter | undefined> {
  const [row] = await sql<Inviter[]>`
    select a.name, s.email as signed_up
    from account a left join sign_up s on s.account_id = a.id and not exists (
      select from credit c where c.account_id = a.id and c.kind = 'top_up')
    where a.id = ${accountId}`
  return row
}

/**
 * First key of the advisory lock, an arbitrary constant; the second is a hash of the account and
 * the address.
 */
const INVITATION_LOCK = 730_214

/**
 * Deletes the open invitations of an address to an account, or, with null, to be an operator. Until
 * the transaction ends no other one does so: the later of two invitations deletes the earlier.
 */
export async function deleteInvitationsTo(
  sql: TransactionSql,
  email: string,
  accountId: string | null,
): Promise<void> {
  const invited = `${accountId ?? ''} ${email.toLowerCase()}`
  await sql`select pg_advisory_xact_lock(${INVITATION_LOCK}::int, hashtext(${invited}))`
  await sql`
    delete from console_link where kind = 'invitation' and used_at is null
      and account_id is not distinct from ${accountId} and lower(email) = ${email.toLowerCase()}`
}

/** Invalidates earlier links of this kind. */
export async function deleteUnused(
  sql: Sql | TransactionSql,
  filter: { readonly kind: 'setup' } | { readonly kind: 'reset'; readonly personId: string },
): Promise<void> {
  const { kind } = filter
  const personId = filter.kind === 'reset' ? filter.personId : null
  await sql`
    delete from console_link where kind = ${kind} and used_at is null
      and person_id is not distinct from ${personId}`
}

/** Strangers can request these links, so expired ones are deleted. */
export async function deleteExpiredSignUps(sql: TransactionSql): Promise<void> {
  await sql`delete from console_link where kind = 'sign_up' and expires_at < now()`
}

/** Returns an open invitation. */
export async function findOpenInvitation(
  sql: TransactionSql,
  id: string,
): Promise<LinkRow | undefined> {
  const [row] = await sql<LinkRow[]>`${open(sql)} and l.kind = 'invitation' and l.id = ${id}`
  return row
}

/** Returns the open invitations of an address. */
export function selectInvitationsOf(sql: TransactionSql, email: string): Promise<LinkRow[]> {
  return sql<LinkRow[]>`
    ${open(sql)} and l.kind = 'invitation' and lower(l.email) = ${email.toLowerCase()}
    order by l.created_at, l.id limit 50`
}
