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
  const { limit, cursor, account, model, endpoint, status, review, loss } = query
  const { request_id: id } = query
  const columns = columnsOf(sql, operatorCall.shape, 'c', {
    account_name: sql`a.name`,
    margin: sql`c.charged - c.upstream_cost`,
    channel: sql`c.attempts -> -1 ->> 'channel'`,
    end_user: sql`c.labels ->> 'end_user'`,
    attempts: sql`jsonb_array_length(c.attempts)`,
    tries: sql`c.attempts`,
  })
  return sql<SchemaRow<typeof operatorCall>[]>`
    with page as (
      select * from call where true
        ${equal(sql, { account_id: account, model, endpoint, status, review, request_id: id })}
        ${during(sql, 'created_at', query)}
        ${loss ? sql`and upstream_cost > charged` : sql``}
        ${behind(sql, 'call', cursor, { id: 'request_id' })}
      order by created_at desc, request_id desc limit ${limit + 1})
    select ${columns} from page c join account a on a.id = c.account_id
    order by c.created_at desc, c.request_id desc`
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
