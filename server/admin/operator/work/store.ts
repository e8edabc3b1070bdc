/** SQL of operators' lists of calls, tasks and deliveries, newest first. */
import type { Sql } from 'postgres'
import type { TaskKind } from '../../../lib/task-kinds.ts'
import { type DeliveryFilter, narrowDeliveries } from '../../../webhooks/store.ts'

interface Paged {
  readonly limit: number
  readonly after?: string | undefined
  readonly account?: string | undefined
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

interface Owned {
  readonly account_id: string
  readonly account_name: string
}

export interface CallListRow extends Owned {
  readonly request_id: string
  readonly created_at: Date
  readonly finished_at: Date
  readonly endpoint: string
  readonly model: string
  readonly key_id: string
  readonly task_id: string | null
  readonly status: string
  readonly basis: string
  readonly review: boolean
  readonly currency: string
  readonly held: bigint
  readonly charged: bigint
  readonly upstream_cost: bigint | null
  readonly channel: string | null
  readonly attempts: number
  readonly tries: unknown
  readonly error: string | null
}

export interface CallListFilter extends Paged {
  readonly model?: string | undefined
  readonly endpoint?: string | undefined
  readonly status?: string | undefined
  readonly review?: boolean | undefined
  readonly requestId?: string | undefined
  readonly loss?: boolean | undefined
}

export function selectCallPage(sql: Sql, filter: CallListFilter): Promise<CallListRow[]> {
  const { limit, after, account, from, to, model, endpoint, status, review, requestId } = filter
  const { loss } = filter
  return sql<CallListRow[]>`
    with page as (
      select * from call where true
        ${account ? sql`and account_id = ${account}` : sql``}
        ${from ? sql`and created_at >= ${from}` : sql``}
        ${to ? sql`and created_at < ${to}` : sql``}
        ${model ? sql`and model = ${model}` : sql``}
        ${endpoint ? sql`and endpoint = ${endpoint}` : sql``}
        ${status ? sql`and status = ${status}` : sql``}
        ${review === undefined ? sql`` : sql`and review = ${review}`}
        ${requestId ? sql`and request_id = ${requestId}` : sql``}
        ${loss ? sql`and upstream_cost > charged` : sql``}
        ${
          after
            ? sql`and (created_at, request_id) <
                (select p.created_at, p.request_id from call p where p.request_id = ${after})`
            : sql``
        }
      order by created_at desc, request_id desc limit ${limit})
    select c.request_id, c.account_id, a.name as account_name, c.created_at, c.finished_at,
      c.endpoint, c.model, c.key_id, c.task_id, c.status, c.basis, c.review, c.currency, c.held,
      c.charged, c.upstream_cost, c.attempts -> -1 ->> 'channel' as channel,
      jsonb_array_length(c.attempts) as attempts, c.attempts as tries, c.error
    from page c join account a on a.id = c.account_id
    order by c.created_at desc, c.request_id desc`
}

export interface OperatorTaskRow extends Owned {
  readonly id: string
  readonly kind: TaskKind
  readonly model: string
  readonly state: string
  readonly channel_id: string
  readonly upstream_id: string | null
  readonly polls: number
  readonly failures: number
  readonly due_at: Date | null
  readonly error: string | null
  readonly request_id: string
  readonly created_at: Date
  readonly finished_at: Date | null
}

export interface TaskListFilter extends Paged {
  readonly kind?: string | undefined
  readonly states?: readonly string[] | undefined
  readonly channel?: string | undefined
  readonly id?: string | undefined
}

/** Open tasks have a small partial index. */
const isOpen = (state: string) => state !== 'succeeded' && state !== 'failed'

export function selectTaskPage(sql: Sql, filter: TaskListFilter): Promise<OperatorTaskRow[]> {
  const { limit, after, account, from, to, kind, states, channel, id } = filter
  return sql<OperatorTaskRow[]>`
    select t.id, t.account_id, c.name as account_name, t.kind, t.model, t.state, t.channel_id,
      a.upstream_id, t.polls, t.failures, t.due_at, t.request_id, t.created_at, t.finished_at,
      t.error_message as error
    from task t
      join account c on c.id = t.account_id
      left join task_attempt a on a.id = t.attempt_id
    where true
      ${account ? sql`and t.account_id = ${account}` : sql``}
      ${from ? sql`and t.created_at >= ${from}` : sql``}
      ${to ? sql`and t.created_at < ${to}` : sql``}
      ${kind ? sql`and t.kind = ${kind}` : sql``}
      ${states ? sql`and t.state = any(${states as string[]}::text[])` : sql``}
      ${states?.every(isOpen) ? sql`and t.due_at is not null` : sql``}
      ${channel ? sql`and t.channel_id = ${channel}` : sql``}
      ${
        id
          ? sql`and t.id in (select ${id} union all
              select task_id from task_attempt where upstream_id = ${id})`
          : sql``
      }
      ${
        after
          ? sql`and (t.created_at, t.id) <
              (select p.created_at, p.id from task p where p.id = ${after})`
          : sql``
      }
    order by t.created_at desc, t.id desc limit ${limit}`
}

export interface OperatorDeliveryRow extends Owned {
  readonly id: string
  readonly task_id: string | null
  readonly kind: string
  readonly url: string
  readonly state: 'pending' | 'delivered' | 'dropped'
  readonly attempts: number
  readonly last_status: number | null
  readonly last_error: string | null
  readonly redelivery_of: string | null
  readonly redelivered_as: string | null
  readonly created_at: Date
  readonly finished_at: Date | null
}

export function selectDeliveryPage(
  sql: Sql,
  filter: DeliveryFilter,
): Promise<OperatorDeliveryRow[]> {
  return sql<OperatorDeliveryRow[]>`
    with page as (
      select d.* from delivery d where true ${narrowDeliveries(sql, filter)}
      order by d.created_at desc, d.id desc limit ${filter.limit})
    select d.id, d.account_id, c.name as account_name, d.task_id, d.kind, d.url, d.state,
      d.attempts, last.status as last_status, last.error as last_error, d.created_at, d.finished_at,
      d.redelivery_of,
      (select r.id from delivery r where r.repeats = d.id) as redelivered_as
    from page d
      join account c on c.id = d.account_id
      left join lateral (
        select a.status, a.error from delivery_attempt a
        where a.delivery_id = d.id order by a.number desc limit 1) last on true
    order by d.created_at desc, d.id desc`
}
