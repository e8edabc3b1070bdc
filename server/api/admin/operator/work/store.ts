/** SQL of operators' lists of calls, tasks and deliveries, newest first. */
import type { Sql } from 'postgres'
import { columnsOf } from '../../../../base/database/columns.ts'
import { behind, during, equal } from '../../../../base/database/conditions.ts'
import { narrowDeliveries } from '../../../../work/webhooks/store.ts'
import type { SchemaRow } from '../../../endpoints/codecs.ts'
import type { ReadQuery } from '../../route.ts'
import {
  operatorCall,
  operatorDelivery,
  operatorTask,
  type operatorWorkContract,
} from './contract.ts'

type Query<Key extends keyof typeof operatorWorkContract> = ReadQuery<
  (typeof operatorWorkContract)[Key]
>

export function selectCallPage(
  sql: Sql,
  query: Query<'GET /operator/calls'>,
): Promise<SchemaRow<typeof operatorCall>[]> {
  const columns = columnsOf(sql, operatorCall.shape, 'c', {
    account_name: sql`a.name`,
    margin: sql`c.charged - c.upstream_cost`,
    channel: sql`c.attempts -> -1 ->> 'channel'`,
    end_user: sql`c.labels ->> 'end_user'`,
    attempts: sql`jsonb_array_length(c.attempts)`,
    tries: sql`c.attempts`,
  })
  const { model, review, loss, request_id: id } = query
  // Calls in review, at a loss and of an id have indexes of their own.
  const isScattered = model && !review && !loss && !id
  return sql<SchemaRow<typeof operatorCall>[]>`
    with page as (${isScattered ? selectByHour(sql, query, model) : selectCalls(sql, query)})
    select ${columns} from page c join account a on a.id = c.account_id
    order by c.created_at desc, c.request_id desc`
}

type CallQuery = Query<'GET /operator/calls'>

/** Selects the page's calls, `within` a span as well if there is one. */
function selectCalls(sql: Sql, query: CallQuery, within = sql``) {
  const { limit, cursor, account, model, endpoint, status, review, loss } = query
  const { request_id: id } = query
  return sql`
    select * from call where true ${within}
      ${equal(sql, { account_id: account, model, endpoint, status, review, request_id: id })}
      ${during(sql, 'created_at', query)}
      ${loss ? sql`and upstream_cost > charged` : sql``}
      ${behind(sql, 'call', cursor, { id: 'request_id' })}
    order by created_at desc, request_id desc limit ${limit + 1}`
}

/**
 * Selects the page's calls of a model, which may be far apart, from the hours in which the figures
 * have any of it, and from those of calls that are not counted yet.
 */
function selectByHour(sql: Sql, query: CallQuery, model: string) {
  const { from, to, cursor, limit } = query
  return sql`
    select c.* from (
      select hour from (
        select date_trunc('hour', hour, 'UTC') as hour from channel_hour where model = ${model}
        union
        select date_trunc('hour', created_at, 'UTC') from (
          select model, created_at from call
          where finished_at >= (
            select coalesce(counted_until, '-infinity') from usage_watermark)
          offset 0) uncounted
        where model = ${model}) hours
      where true
        ${from ? sql`and hour > ${from}::timestamptz - interval '1 hour'` : sql``}
        ${to ? sql`and hour < ${to}` : sql``}
        ${
          cursor
            ? sql`and hour <= (select created_at from call where request_id = ${cursor})`
            : sql``
        }
      order by hour desc) h
    cross join lateral (${selectCalls(
      sql,
      query,
      sql`and created_at >= h.hour and created_at < h.hour + interval '1 hour'`,
    )}) c
    order by h.hour desc, c.created_at desc, c.request_id desc limit ${limit + 1}`
}

/** Open tasks have a small partial index. */
const OPEN_STATES: readonly string[] = ['submitting', 'queued', 'processing']

export function selectTaskPage(
  sql: Sql,
  query: Query<'GET /operator/tasks'>,
): Promise<SchemaRow<typeof operatorTask>[]> {
  const { limit, cursor, account, kind, status, channel, id } = query
  const states = status === 'open' ? OPEN_STATES : status && [status]
  const columns = columnsOf(sql, operatorTask.shape, 't', {
    account_name: sql`c.name`,
    status: sql`t.state`,
    channel: sql`t.channel_id`,
    upstream_id: sql`a.upstream_id`,
    next_poll_at: sql`t.due_at`,
    error: sql`t.error_message`,
  })
  return sql<SchemaRow<typeof operatorTask>[]>`
    select ${columns} from task t
      join account c on c.id = t.account_id
      left join task_attempt a on a.id = t.attempt_id
    where true
      ${equal(sql, { 't.account_id': account, 't.kind': kind, 't.channel_id': channel })}
      ${during(sql, 't.created_at', query)}
      ${states ? sql`and t.state = any(${states as string[]}::text[])` : sql``}
      ${states?.every((one) => OPEN_STATES.includes(one)) ? sql`and t.due_at is not null` : sql``}
      ${
        id
          ? sql`and t.id in (select ${id} union all
              select task_id from task_attempt where upstream_id = ${id})`
          : sql``
      }
      ${behind(sql, 'task', cursor, { alias: 't' })}
    order by t.created_at desc, t.id desc limit ${limit + 1}`
}

export function selectDeliveryPage(
  sql: Sql,
  query: Query<'GET /operator/deliveries'>,
): Promise<SchemaRow<typeof operatorDelivery>[]> {
  const { limit, cursor: after, account, task_id: taskId, ...rest } = query
  const filter = { ...rest, limit, after, accountId: account || undefined, taskId }
  const columns = columnsOf(sql, operatorDelivery.shape, 'd', {
    account_name: sql`c.name`,
    last_status: sql`last.status`,
    last_error: sql`last.error`,
    redelivered_as: sql`(select r.id from delivery r where r.repeats = d.id)`,
  })
  return sql<SchemaRow<typeof operatorDelivery>[]>`
    with page as (
      select d.* from delivery d where true ${narrowDeliveries(sql, filter)}
      order by d.created_at desc, d.id desc limit ${limit + 1})
    select ${columns} from page d
      join account c on c.id = d.account_id
      left join lateral (
        select a.status, a.error from delivery_attempt a
        where a.delivery_id = d.id order by a.number desc limit 1) last on true
    order by d.created_at desc, d.id desc`
}
