/** SQL of operators' lists of accounts and credits. */
import type { Sql } from 'postgres'
import { columnsOf } from '../../../../base/database/columns.ts'
import { behind, equal, mentioning } from '../../../../base/database/conditions.ts'
import type { SchemaRow } from '../../../endpoints/codecs.ts'
import type { ReadQuery } from '../../route.ts'
import { operatorAccount, type operatorAccountsContract, operatorCredit } from './contract.ts'

type Query = ReadQuery<(typeof operatorAccountsContract)['GET /operator/accounts']>

/** Lists accounts, newest first. Wildcards in the search text are escaped. */
export function selectAccountPage(
  sql: Sql,
  query: Query,
): Promise<SchemaRow<typeof operatorAccount>[]> {
  const { limit, cursor, search, status, in_debt: inDebt } = query
  const columns = columnsOf(sql, operatorAccount.shape, 'a', {
    available: sql`b.available`,
    held: sql`b.held`,
    debt: sql`b.debt`,
    keys: sql`(select count(*)::int from api_key k where k.account_id = a.id)`,
  })
  return sql<SchemaRow<typeof operatorAccount>[]>`
    select ${columns} from account a join balance b on b.account_id = a.id
    where true ${equal(sql, { 'a.status': status })}
      ${mentioning(sql, ['a.name', 'a.id'], search)}
      ${inDebt === undefined ? sql`` : inDebt ? sql`and b.debt > 0` : sql`and b.debt = 0`}
      ${behind(sql, 'account', cursor, { alias: 'a' })}
    order by a.created_at desc, a.id desc limit ${limit + 1}`
}

export function selectCredits(
  sql: Sql,
  filter: {
    readonly accountId: string
    readonly limit: number
    readonly after?: string | undefined
  },
): Promise<SchemaRow<typeof operatorCredit>[]> {
  const { accountId, limit, after } = filter
  return sql<SchemaRow<typeof operatorCredit>[]>`
    select ${columnsOf(sql, operatorCredit.shape, 'credit')} from credit
    where account_id = ${accountId} ${behind(sql, 'credit', after, { accountId })}
    order by created_at desc, id desc limit ${limit}`
}

export async function renameAccount(sql: Sql, id: string, name: string): Promise<void> {
  await sql`update account set name = ${name} where id = ${id}`
}
