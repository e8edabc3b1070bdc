/**
 * The people to whom keys belong. Whoever gives a person a key locks the membership first, so that
 * a membership which ends at the same moment either prevents the key or ends it.
 */
import type { Sql, TransactionSql } from 'postgres'
import { type MemberRole, mayHaveKeys } from '../../base/lib/member-roles.ts'
import { OperatorError } from '../../base/lib/operator-error.ts'

/** Returns the id of a member of the account by the address of the person. */
export async function readMember(
  sql: Sql | TransactionSql,
  accountId: string,
  email: string,
): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    select p.id from person p join membership m on m.person_id = p.id
    where m.account_id = ${accountId} and lower(p.email) = ${email.toLowerCase()}`
  if (!row) throw new OperatorError(`the account ${accountId} has no member ${email}`)
  return row.id
}

/**
 * Locks the membership of a person who is to have a key. Throws OperatorError for a person who may
 * not have one: not a member, disabled, or with a role without keys.
 */
export async function lockKeyHolder(
  sql: TransactionSql,
  accountId: string,
  personId: string,
): Promise<void> {
  const role = await lockRole(sql, accountId, personId)
  if (!role) {
    throw new OperatorError(
      `the account ${accountId} has no member ${personId}, whose own key it is: ` +
        'give it to another member, or to none (--member)',
    )
  }
  if (!mayHaveKeys(role)) {
    throw new OperatorError(`${personId} has the role ${role}, which has no keys`)
  }
}

/**
 * Returns true for a person who may use the playground of the account, and keeps it so until the
 * transaction ends.
 */
export async function lockPlayer(
  sql: TransactionSql,
  accountId: string,
  personId: string,
): Promise<boolean> {
  const [person] = await sql<{ is_operator: boolean; is_locked: boolean }[]>`
    select is_operator, disabled_at is not null as is_locked from person
    where id = ${personId} for share`
  // Sessions of the demo and of tests may belong to no stored user.
  if (!person) return true
  if (person.is_operator) return !person.is_locked
  const role = await lockRole(sql, accountId, personId)
  return role !== undefined && mayHaveKeys(role)
}

/** Returns the role of a member who is not disabled. */
async function lockRole(
  sql: TransactionSql,
  accountId: string,
  personId: string,
): Promise<MemberRole | undefined> {
  const [row] = await sql<{ role: MemberRole }[]>`
    select case m.role when 'owner' then 'owner' else m.member_role end as role
    from membership m join person p on p.id = m.person_id
    where m.account_id = ${accountId} and m.person_id = ${personId} and p.disabled_at is null
    for share of m, p`
  return row?.role
}
