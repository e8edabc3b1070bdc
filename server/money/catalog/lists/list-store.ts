/** SQL of price lists. All writes run under the catalog's lock. */
import type { Sql, TransactionSql } from 'postgres'
import { type ListVersion, type PriceListRow, priceNameOf } from '../list.ts'

export interface CompiledRow extends PriceListRow {
  readonly compiled: string
  /**
   * The fingerprint of the sources of the compiled prices; null if the previous version has written
   * them.
   */
  readonly fingerprint: string | null
}

/** Lists all price lists; an own list has the list of its account as its parent. */
export function selectLists(sql: Sql | TransactionSql): Promise<CompiledRow[]> {
  return sql<CompiledRow[]>`
    select l.id, l.currency, l.account_id, l.status, l.source, l.definition, l.compiled,
      case when l.fingerprint like '%@' || extract(epoch from l.updated_at)
        then split_part(l.fingerprint, '@', 1) end as fingerprint,
      case when l.account_id is null then l.parent else a.price_list end as parent
    from price_list l left join account a on a.id = l.account_id
    order by l.id`
}

export async function saveList(
  sql: TransactionSql,
  list: Omit<PriceListRow, 'status'>,
): Promise<void> {
  await sql`
    insert into price_list (id, currency, parent, account_id, source, definition)
    values (${list.id}, ${list.currency}, ${list.parent}, ${list.account_id}, ${list.source},
      ${JSON.stringify(list.definition)}::text::jsonb)
    on conflict (id) do update set source = excluded.source, status = 'active',
      definition = excluded.definition, updated_at = now()`
}

export async function retireLists(sql: TransactionSql, ids: readonly string[]): Promise<void> {
  await sql`
    update price_list set status = 'retired', updated_at = now() where id in ${sql(ids)}`
}

/** Returns the id of an account's own list, whatever its status. */
export async function findOwnList(
  sql: Sql | TransactionSql,
  accountId: string,
): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select id from price_list where account_id = ${accountId}`
  return row?.id
}

/** Returns how many accounts have each of these lists. */
export function countUsers(
  sql: TransactionSql,
  ids: readonly string[],
): Promise<{ id: string; accounts: number }[]> {
  return sql<{ id: string; accounts: number }[]>`
    select price_list as id, count(*)::int as accounts from account
    where price_list in ${sql(ids)} group by price_list`
}

/** A version to write, without its number. */
export interface NewVersion extends Omit<ListVersion, 'version'> {
  readonly list: string
  readonly currency: string
  readonly model: string
}

/** Writes versions and returns their numbers, in the same order. */
export async function saveVersions(
  sql: TransactionSql,
  versions: readonly NewVersion[],
): Promise<string[]> {
  const numbers = await sql<{ version: string }[]>`
    select nextval(pg_get_serial_sequence('price', 'version'))::text as version
    from generate_series(1, ${versions.length})`
  const rows = versions.map(({ list, model, currency, prices = [], origin, from }, index) => {
    const version = numbers[index]?.version
    return {
      version,
      name: priceNameOf({ id: model, list: { id: list } }),
      currency,
      prices,
      at: from,
      list,
      origin,
    }
  })
  await sql`
    insert into price (version, model_id, currency, prices, effective_from, list_id, origin)
    overriding system value
    select version, name, currency, prices, to_timestamp(at / 1000.0), list, origin
    from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
      as v(version bigint, name text, currency text, prices jsonb, at float8, list text,
        origin jsonb)`
  return numbers.map(({ version }) => version)
}

/** Withdraws versions that have not begun. */
export async function withdrawVersions(
  sql: TransactionSql,
  versions: readonly string[],
): Promise<void> {
  await sql`
    insert into price_withdrawal (version)
    select version from price where version = any (${versions as string[]}::text[]::bigint[])
      and effective_from > clock_timestamp()
    on conflict (version) do nothing`
}

export async function saveCompiled(
  sql: TransactionSql,
  list: { readonly id: string; readonly compiled: string; readonly moments: readonly number[] },
): Promise<void> {
  await sql`
    update price_list set compiled = ${list.compiled}, updated_at = now(), moments =
      array(select to_timestamp(ms / 1000) from unnest(${list.moments as number[]}::float8[]) ms)
    where id = ${list.id}`
}

/**
 * Saves the fingerprints of lists by id. Each is bound to the time of the list's last change, which
 * the previous version updates when it changes prices.
 */
export async function saveFingerprints(
  sql: TransactionSql,
  fingerprints: readonly (readonly [string, string])[],
): Promise<void> {
  if (fingerprints.length === 0) return
  await sql`
    update price_list set
      fingerprint = (one ->> 1) || '@' || extract(epoch from updated_at)
    from jsonb_array_elements(${JSON.stringify(fingerprints)}::text::jsonb) one
    where id = one ->> 0`
}

/** Makes every gateway look up the keys of an account again, since these name its list. */
export async function notifyAccount(sql: TransactionSql, accountId: string): Promise<void> {
  await sql`select pg_notify('tributary_account', ${accountId})`
}
