/** SQL of usage records, as callers may read them. Every query is bound to one account. */

import type { Sql } from 'postgres'
import { during, equal } from '../../base/database/conditions.ts'
import { holdIdOf } from '../../base/lib/ids.ts'
import type { EndedStatus } from '../../base/lib/kinds-and-states.ts'
import { narrow } from './figures-store.ts'
import { hasTag } from './label-figures-store.ts'
import { withList } from './list-amount.ts'

export interface UsageFilter {
  readonly accountId: string
  readonly limit: number
  /** A request id: only the records after it in the order are returned. */
  readonly after?: string | undefined
  readonly from?: Date | undefined
  readonly to?: Date | undefined
  readonly model?: string | undefined
  readonly endpoint?: string | undefined
  readonly keyIds?: readonly string[] | undefined
  readonly tag?: string | undefined
  readonly endUser?: string | undefined
  readonly status?: UsageSummary['status'] | undefined
  readonly taskId?: string | undefined
  readonly requestId?: string | undefined
  readonly chargedAtLeast?: bigint | undefined
  /** Oldest first instead of newest first. */
  readonly isAscending?: boolean | undefined
}

/** A record as shown in lists. */
export interface UsageSummary {
  readonly request_id: string
  readonly hold_id: string
  readonly created_at: Date
  readonly finished_at: Date | null
  readonly endpoint: string
  readonly model: string
  readonly key_id: string
  readonly task_id: string | null
  readonly status: 'running' | EndedStatus
  readonly basis: string | null
  readonly review: boolean
  readonly currency: string
  readonly held: bigint
  readonly charged: bigint
  readonly returned: bigint
  readonly debt: bigint
  readonly price_version: bigint | null
  /** The list that the prices are of; null for a free model. */
  readonly price_list: string | null
  /** The charge at base prices; null where these have another currency. */
  readonly list_amount: bigint | null
  readonly error: string | null
  readonly lines: unknown
  readonly attempts: unknown
  readonly tags: readonly string[]
  readonly end_user: string | null
}

export type UsageRow = UsageSummary

type StoredRow = Omit<UsageRow, 'list_amount'>

/**
 * Lists the usage records of finished calls, newest first unless stated; those of running ones
 * where that status is asked for.
 */
export async function selectUsage(sql: Sql, filter: UsageFilter): Promise<UsageSummary[]> {
  return (await selectRows(sql, filter)).map(withList)
}

function selectRows(sql: Sql, filter: UsageFilter): Promise<StoredRow[]> {
  const { model, endpoint, keyIds, chargedAtLeast, status, requestId, taskId } = filter
  const { tag, endUser } = filter
  if (status === 'running') return listRunning(sql, filter)
  const isFound = requestId || taskId || endUser || (status && status !== 'succeeded')
  const isScattered = model || endpoint || keyIds || tag || chargedAtLeast
  if (isFound || !isScattered) return listInOrder(sql, filter)
  return listByHour(sql, filter)
}

const columns = (sql: Sql) => sql`
  request_id, hold_id, created_at, finished_at, endpoint, model, key_id, task_id, status, basis,
  review, currency, held, charged, returned, debt, price_version, ${priceList(sql, 'call')},
  error, lines, attempts, ${labelColumns(sql)}`

/** The record of a call that has not ended, from its hold `h` and its balance `b`. */
const runningColumns = (sql: Sql) => sql`
  h.request_id, h.id as hold_id, h.created_at, null as finished_at, h.endpoint, h.model,
  h.key_id, h.task_id, 'running' as status, null as basis, false as review, b.currency,
  h.amount as held, 0::bigint as charged, 0::bigint as returned, 0::bigint as debt,
  h.price_version, ${priceList(sql, 'h')}, null as error, '[]'::jsonb as lines,
  '[]'::jsonb as attempts, ${labelColumns(sql)}`

/** Selects the list of a record's prices. */
const priceList = (sql: Sql, table: 'call' | 'h') => sql`
  (select coalesce(p.list_id, 'base') from price p where p.version = ${sql(table)}.price_version)
    as price_list`

/** The members of the labels that callers see. */
const labelColumns = (sql: Sql) => sql`
  coalesce(labels -> 'tags', '[]'::jsonb) as tags, labels ->> 'end_user' as end_user`

/** Returns the filter as conditions on a row of the account's in `call`. */
function matches(sql: Sql, filter: UsageFilter) {
  const { after, status, taskId, accountId, chargedAtLeast, isAscending = false } = filter
  return sql`
    ${matchesHold(sql, filter)}
    ${status ? narrowStatus(sql, status) : sql``}
    ${
      taskId
        ? sql`and request_id = (select t.request_id from task t
            where t.id = ${taskId} and t.account_id = ${accountId})`
        : sql``
    }
    ${chargedAtLeast ? sql`and charged >= ${chargedAtLeast.toString()}::bigint` : sql``}
    ${
      after
        ? sql`and (created_at, request_id) ${isAscending ? sql`>` : sql`<`} (
            select c.created_at, c.request_id from call c
            where c.request_id = ${after} and c.account_id = ${accountId})`
        : sql``
    }`
}

/** Returns the part of the filter that is known when a hold is taken. */
function matchesHold(sql: Sql, filter: UsageFilter) {
  const { model, endpoint, keyIds, requestId, tag, endUser } = filter
  return sql`
    ${during(sql, 'created_at', filter)}
    ${equal(sql, { model, endpoint, request_id: requestId })}
    ${keyIds ? sql`and key_id = any(${keyIds as string[]}::text[])` : sql``}
    ${tag ? sql`and labels -> 'tags' ? ${tag}` : sql``}
    ${endUser ? sql`and labels ->> 'end_user' = ${endUser}` : sql``}`
}

/**
 * Lists the account's open holds, among those of all accounts: there are only as many as calls and
 * tasks in progress, and no index by account, which each call would have to change twice.
 */
function listRunning(sql: Sql, filter: UsageFilter): Promise<StoredRow[]> {
  const { accountId, after, taskId, chargedAtLeast, isAscending = false } = filter
  const order = direction(sql, filter)
  return sql<StoredRow[]>`
    select ${runningColumns(sql)}
    from (
      select * from hold where state = 'open' and account_id = ${accountId}
        ${matchesHold(sql, filter)} ${equal(sql, { task_id: taskId })}
        ${chargedAtLeast ? sql`and false` : sql``}
        ${
          after
            ? sql`and (created_at, request_id) ${isAscending ? sql`>` : sql`<`} (
                select o.created_at, o.request_id from hold o
                where o.id = ${holdIdOf(after)} and o.account_id = ${accountId})`
            : sql``
        }
      offset 0) h
    join balance b on b.account_id = h.account_id
    order by h.created_at ${order}, h.request_id ${order} limit ${filter.limit}`
}

const direction = (sql: Sql, { isAscending = false }: UsageFilter) =>
  isAscending ? sql`asc` : sql`desc`

function listInOrder(sql: Sql, filter: UsageFilter): Promise<StoredRow[]> {
  return sql<StoredRow[]>`
    select ${columns(sql)} from call
    where account_id = ${filter.accountId} ${matches(sql, filter)}
    order by created_at ${direction(sql, filter)}, request_id ${direction(sql, filter)}
    limit ${filter.limit}`
}

/**
 * Lists rows that may be far apart: the figures give the hours that have any, and only those are
 * read, newest first, until there are enough.
 */
function listByHour(sql: Sql, filter: UsageFilter): Promise<StoredRow[]> {
  const { accountId, from, to, after, limit, tag } = filter
  const order = direction(sql, filter)
  const length = sql`${tag ? '15 minutes' : '1 hour'}::interval`
  return sql<StoredRow[]>`
    select c.* from (
      select hour from (${tag ? quartersOfTag(sql, filter, tag) : hoursOf(sql, filter)}) hours
      where true
        ${from ? sql`and hour > ${from}::timestamptz - ${length}` : sql``}
        ${to ? sql`and hour < ${to}` : sql``}
        ${
          after
            ? sql`and ${filter.isAscending ? sql`hour + ${length} >` : sql`hour <=`} (
                select created_at from call
                where request_id = ${after} and account_id = ${accountId})`
            : sql``
        }
      order by hour ${order}) h
    cross join lateral (
      select ${columns(sql)} from call
      where account_id = ${accountId} and created_at >= h.hour
        and created_at < h.hour + ${length} ${matches(sql, filter)}
      order by created_at ${order}, request_id ${order} limit ${limit}) c
    order by h.hour ${order}, c.created_at ${order}, c.request_id ${order} limit ${limit}`
}

function hoursOf(sql: Sql, filter: UsageFilter) {
  const { accountId, model, endpoint, keyIds, chargedAtLeast } = filter
  const has = (part: string, names: readonly string[] | undefined) =>
    names === undefined
      ? sql``
      : sql`and exists (select 1 from usage_part p where p.account_id = ${accountId}
          and p.part = ${part} and p.name = any(${names as string[]}::text[]) and p.hour = h.hour)`
  return sql`
    select date_trunc('hour', hour, 'UTC') as hour from usage_part h
    where h.account_id = ${accountId} and h.part = 'all' and h.name = ''
      ${has('model', model ? [model] : undefined)} ${has('key', keyIds)}
      ${has('endpoint', endpoint ? [endpoint] : undefined)}
      ${chargedAtLeast ? sql`and h.largest >= ${chargedAtLeast.toString()}::bigint` : sql``}
    union
    select date_trunc('hour', created_at, 'UTC') from (
      select account_id, created_at from call
      where finished_at >= (
        select coalesce(counted_until, '-infinity') from usage_watermark)
      offset 0) uncounted
    where account_id = ${accountId}`
}

function quartersOfTag(sql: Sql, { accountId, model, endpoint, keyIds }: UsageFilter, tag: string) {
  return sql`
    select hour from usage_tags
    where account_id = ${accountId} and ${hasTag(sql, tag)}
      ${narrow(sql, { model, endpoint, keyIds })}
    union
    select usage_slot(created_at) from (
      select account_id, created_at from call
      where finished_at >= (select coalesce(tags_until, '-infinity') from usage_watermark)
      offset 0) uncounted
    where account_id = ${accountId}`
}

/** The rarer statuses have a partial index, whose condition the query must repeat literally. */
function narrowStatus(sql: Sql, status: UsageSummary['status']) {
  if (status === 'succeeded') return sql`and status = 'succeeded'`
  return sql`and status <> 'succeeded' and status = ${status}`
}

/** Returns one call, finished or running; a running one has only the data of its hold. */
export async function findUsage(
  sql: Sql,
  accountId: string,
  requestId: string,
): Promise<UsageRow | undefined> {
  const [finished] = await sql<StoredRow[]>`
    select *, ${priceList(sql, 'call')}, ${labelColumns(sql)} from call
    where account_id = ${accountId} and request_id = ${requestId}`
  if (finished) return withList(finished)
  const [running] = await sql<StoredRow[]>`
    select ${runningColumns(sql)} from hold h join balance b on b.account_id = h.account_id
    where h.account_id = ${accountId} and h.id = ${holdIdOf(requestId)}`
  return running && withList(running)
}

/** Returns whether the month of a call is archived, or is being archived. */
export async function isUsageArchived(sql: Sql, requestId: string): Promise<boolean> {
  const [row] = await sql<{ archived: boolean }[]>`
    select is_archived(${holdIdOf(requestId)}) as archived`
  return row?.archived === true
}

export interface UsageEntry {
  readonly step: string
  readonly source: string
  readonly destination: string
  readonly amount: bigint
  readonly at: Date
}

/** Returns the ledger entries of one hold, in the order they were posted. */
export function listEntries(sql: Sql, accountId: string, holdId: string): Promise<UsageEntry[]> {
  return sql<UsageEntry[]>`
    select step, source, destination, amount, at from entry
    where posting = ${holdId} and account_id = ${accountId} order by id`
}
