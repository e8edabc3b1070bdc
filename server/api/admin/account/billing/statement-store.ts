/** SQL of statements. */
import type { Sql } from 'postgres'
import { columnsOf } from '../../../../base/database/columns.ts'
import type { SchemaRow } from '../../../endpoints/codecs.ts'
import { credit } from './contract.ts'

/** `day` is the beginning of its day in the time zone. */
export type StatementCredit = SchemaRow<typeof credit> & { readonly day: Date }

/** Returns what an account owns now: available plus held, minus debt. */
export async function selectTotal(sql: Sql, accountId: string) {
  const [row] = await sql<{ total: bigint; currency: string }[]>`
    select (available + held - debt)::bigint as total, currency from balance
    where account_id = ${accountId}`
  return row
}

export function selectCreditsSince(
  sql: Sql,
  of: { readonly accountId: string; readonly from: Date; readonly timeZone: string },
): Promise<StatementCredit[]> {
  return sql<StatementCredit[]>`
    select ${columnsOf(sql, credit.shape, 'credit')},
      date_trunc('day', created_at, ${of.timeZone}) as day
    from credit where account_id = ${of.accountId} and created_at >= ${of.from}
    order by created_at desc, id desc`
}
