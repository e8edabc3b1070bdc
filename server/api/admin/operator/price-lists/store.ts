/** SQL of the operator's page of price lists. */
import type { Sql } from 'postgres'
import { columnsOf } from '../../../../base/database/columns.ts'
import type { ListDefinition } from '../../../../money/catalog/list.ts'
import type { SchemaRow } from '../../../endpoints/codecs.ts'
import type { ReadQuery } from '../../route.ts'
import { type operatorPriceListsContract, priceListRow } from './contract.ts'

type Query = ReadQuery<(typeof operatorPriceListsContract)['GET /operator/price-lists']>
type Row = SchemaRow<typeof priceListRow>

const columns = (sql: Sql) =>
  columnsOf(sql, priceListRow.shape, 'l', {
    parent: sql`coalesce(case when l.account_id is null then l.parent else own.price_list end,
      'base')`,
    models: sql`(select count(*)::int from jsonb_object_keys(l.definition->'prices'))`,
    accounts: sql`case when l.account_id is null then coalesce(u.accounts, 0) else 1 end`,
  })

/** Price lists with their related data; accounts are counted once for all rows. */
const lists = (sql: Sql) => sql`
  price_list l left join account own on own.id = l.account_id
  left join (select price_list, count(*)::int as accounts from account
    where price_list is not null group by 1) u on u.price_list = l.id`

/** Lists price lists by their ids. */
export function selectListPage(sql: Sql, query: Query): Promise<Row[]> {
  const { search = '', own, retired, cursor = '', limit } = query
  return sql<Row[]>`
    select ${columns(sql)} from ${lists(sql)}
    where l.id > ${cursor} and strpos(lower(l.id), lower(${search})) > 0
      ${retired ? sql`` : sql`and l.status = 'active'`}
      ${own === undefined ? sql`` : sql`and (l.account_id is not null) = ${own}`}
    order by l.id limit ${limit + 1}`
}

export async function selectList(
  sql: Sql,
  id: string,
): Promise<(Row & { readonly definition: ListDefinition }) | undefined> {
  const [row] = await sql<(Row & { readonly definition: ListDefinition })[]>`
    select ${columns(sql)}, l.definition from ${lists(sql)} where l.id = ${id}`
  return row
}

/** Returns the account's own prices that apply now. */
export async function selectOwnPrices(
  sql: Sql,
  accountId: string,
): Promise<ListDefinition | undefined> {
  const [row] = await sql<{ definition: ListDefinition }[]>`
    select definition from price_list where account_id = ${accountId} and status = 'active'`
  return row?.definition
}
