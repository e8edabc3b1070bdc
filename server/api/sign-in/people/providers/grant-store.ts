/** SQL of the roles that a provider's rules grant. */
import type { TransactionSql } from 'postgres'
import type { MemberRole } from '../../../../base/lib/member-roles.ts'
import { roleOf } from '../../person-store.ts'

interface GrantedRole {
  readonly account_id: string
  readonly role: MemberRole
  readonly granted_by: string | null
}

/** Locks a person and their memberships, and returns the origin of each role. */
export async function selectGrants(sql: TransactionSql, personId: string) {
  const [person] = await sql<{ is_operator: boolean; operator_by: string | null }[]>`
    select is_operator, operator_by from person where id = ${personId} for update`
  const memberships = await sql<GrantedRole[]>`
    select m.account_id, ${roleOf(sql, 'm')} as role, m.granted_by from membership m
    where m.person_id = ${personId} order by m.account_id for update`
  return {
    isOperator: person?.is_operator ?? false,
    operatorBy: person?.operator_by ?? null,
    memberships,
  }
}

/**
 * Returns the accounts of these ids, or of these names. Owners may rename accounts: of several
 * accounts with one name, only those in `held` count, so that nobody loses a role because another
 * account takes the name.
 */
export async function findAccounts(
  sql: TransactionSql,
  named: readonly string[],
  held: readonly string[],
): Promise<string[]> {
  if (named.length === 0) return []
  const rows = await sql<{ id: string }[]>`
    select id from account where id = any(${named as string[]}::text[])
    union
    select min(id) from account where name = any(${named as string[]}::text[])
    group by name having count(*) = 1
    union
    select id from account where name = any(${named as string[]}::text[])
      and id = any(${held as string[]}::text[])`
  return rows.map(({ id }) => id).sort()
}

/** Makes a person an operator by a provider's rules, or revokes that role. */
export async function setOperatorBy(
  sql: TransactionSql,
  personId: string,
  providerId: string | null,
): Promise<void> {
  await sql`
    update person set is_operator = ${providerId !== null}, operator_by = ${providerId}
    where id = ${personId}`
}
