/** SQL of the price lists of accounts: which one applies, and since when. */
import type { Sql, TransactionSql } from 'postgres'

type AnySql = Sql | TransactionSql

/**
 * Returns the currency of an account, and the list that applies to it: its own prices come first.
 */
export async function selectPayer(
  sql: AnySql,
  accountId: string,
): Promise<{ readonly currency: string; readonly priceList: string | null } | undefined> {
  const [row] = await sql<{ currency: string; priceList: string | null }[]>`
    select a.currency, coalesce(own.id, a.price_list) as "priceList"
    from account a left join price_list own on own.account_id = a.id and own.status = 'active'
    where a.id = ${accountId}`
  return row
}

export interface AssignedList {
  readonly account: { readonly currency: string; readonly price_list: string | null } | undefined
  readonly list: { readonly currency: string; readonly status: string } | undefined
}

/** Reads an account and a list, and locks both, so that a list in use is not retired. */
export async function lockForList(
  sql: TransactionSql,
  accountId: string,
  listId: string | null,
): Promise<AssignedList> {
  const [list] = await sql<NonNullable<AssignedList['list']>[]>`
    select currency, status from price_list
    where id = ${listId} and account_id is null for share`
  const [account] = await sql<NonNullable<AssignedList['account']>[]>`
    select currency, price_list from account where id = ${accountId} for no key update`
  return { account, list }
}

/** Assigns another list to an account from now on; every gateway applies it immediately. */
export async function saveAccountList(
  sql: TransactionSql,
  accountId: string,
  listId: string | null,
  actor: string,
): Promise<void> {
  await sql`update account set price_list = ${listId} where id = ${accountId}`
  await sql`
    insert into account_price_list (account_id, list_id, created_by)
    values (${accountId}, ${listId}, ${actor})`
}
