/**
 * SQL of redeliveries. A unique index lets at most one delivery repeat another, so that requests
 * sent twice, or repeated after a crash, do not send it twice.
 */
import type { Sql } from 'postgres'
import { DELIVERY_NOTIFICATIONS, ofHost } from './store.ts'

/** Repeats a delivery that has ended, unless it has already been repeated. Wakes the senders. */
export async function repeatDelivery(
  sql: Sql,
  delivery: { readonly accountId: string; readonly id: string; readonly newId: string },
): Promise<void> {
  const { accountId, id, newId } = delivery
  await sql`
    with inserted as (
      insert into delivery
        (id, account_id, task_id, kind, url, host, body, redelivery_of, repeats)
      select ${newId}, account_id, task_id, kind, url, host, body, coalesce(redelivery_of, id), id
      from delivery where account_id = ${accountId} and id = ${id} and state <> 'pending'
      on conflict (repeats) where repeats is not null do nothing
      returning 1)
    select pg_notify(${DELIVERY_NOTIFICATIONS}, '') from inserted`
}

/** Returns the id of the delivery that repeats this one. */
export async function findRepeat(
  sql: Sql,
  accountId: string,
  id: string,
): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select id from delivery where repeats = ${id} and account_id = ${accountId}`
  return row?.id
}

/** Selects dropped deliveries by the time of their creation. */
export interface DroppedFilter {
  readonly from: Date
  readonly to: Date
  readonly accountId?: string | undefined
  /** A host name, with or without its port. */
  readonly host?: string | undefined
}

/** Repeats the dropped deliveries that nobody has repeated, the oldest first. Counts them. */
export async function repeatDropped(
  sql: Sql,
  filter: DroppedFilter,
  newIds: readonly string[],
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    with chosen as (
      select *, row_number() over (order by created_at, id) as number from (
        select d.* from delivery d where ${isOpenDrop(sql, filter)}
        order by d.created_at, d.id limit ${newIds.length}) found),
    inserted as (
      insert into delivery
        (id, account_id, task_id, kind, url, host, body, redelivery_of, repeats)
      select ids.id, c.account_id, c.task_id, c.kind, c.url, c.host, c.body,
        coalesce(c.redelivery_of, c.id), c.id
      from chosen c
        join unnest(${[...newIds]}::text[]) with ordinality as ids (id, number) using (number)
      on conflict (repeats) where repeats is not null do nothing
      returning 1),
    woken as (
      select pg_notify(${DELIVERY_NOTIFICATIONS}, '') where exists (select 1 from inserted))
    select count(*)::int as count from inserted left join woken on true`
  return row?.count ?? 0
}

/** Counts the dropped deliveries that nobody has repeated, up to `max`. */
export async function countDropped(sql: Sql, filter: DroppedFilter, max: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from (
      select 1 from delivery d where ${isOpenDrop(sql, filter)} limit ${max}) found`
  return row?.count ?? 0
}

function isOpenDrop(sql: Sql, { from, to, accountId, host }: DroppedFilter) {
  return sql`d.state = 'dropped' and d.created_at >= ${from} and d.created_at < ${to}
    ${accountId === undefined ? sql`` : sql`and d.account_id = ${accountId}`}
    ${host === undefined ? sql`` : ofHost(sql, host)}
    and not exists (
      select 1 from delivery r where r.repeats = d.id and r.account_id = d.account_id)`
}

/** Counts an account's pending deliveries that a person asked for. */
export async function countRequested(
  sql: Sql,
  accountId: string,
): Promise<{ readonly tests: number; readonly redeliveries: number }> {
  const [row] = await sql<{ tests: number; redeliveries: number }[]>`
    select count(*) filter (where kind = 'test')::int as tests,
      count(*) filter (where redelivery_of is not null)::int as redeliveries
    from delivery where account_id = ${accountId} and state = 'pending'
      and (kind = 'test' or redelivery_of is not null)`
  return row ?? { tests: 0, redeliveries: 0 }
}
