/** Deliveries as rows: written, shown, and read by whoever asks for them. */
import type { Sql, TransactionSql } from 'postgres'

export interface InsertedDelivery {
  readonly id: string
  readonly accountId: string
  /** Null for a test send. */
  readonly taskId: string | null
  readonly kind: string
  readonly url: string
  /** host:port */
  readonly host: string
  readonly body: Buffer
  readonly redeliveryOf: string | null
}

/** Wakes the senders of every gateway; heard when the transaction commits. */
export const DELIVERY_NOTIFICATIONS = 'tributary_delivery'

/** Rejects when the task was announced before and this is no redelivery. */
export async function insertDelivery(
  sql: Sql | TransactionSql,
  one: InsertedDelivery,
): Promise<void> {
  await sql`
    with inserted as (
      insert into delivery (id, account_id, task_id, kind, url, host, body, redelivery_of)
      values (${one.id}, ${one.accountId}, ${one.taskId}, ${one.kind}, ${one.url}, ${one.host},
        ${one.body}, ${one.redeliveryOf})
      returning 1)
    select pg_notify(${DELIVERY_NOTIFICATIONS}, '') from inserted`
}

export interface DeliveryRow {
  readonly id: string
  readonly account_id: string
  readonly task_id: string | null
  readonly kind: string
  readonly url: string
  readonly redelivery_of: string | null
  readonly state: 'pending' | 'delivered' | 'dropped'
  readonly attempts: number
  /** When the next attempt is due; null when there will be none. */
  readonly next_attempt_at: Date | null
  readonly created_at: Date
  readonly finished_at: Date | null
  readonly history: readonly AttemptView[]
}

/** As the database's JSON has it. */
export interface AttemptView {
  readonly number: number
  readonly started_at: string
  readonly outcome: 'accepted' | 'refused' | 'lost' | null
  readonly status: number | null
  readonly error: string | null
  readonly latency_ms: number | null
  /** Base64 of at most 1 KiB. */
  readonly answer: string | null
}

export interface DeliveryFilter {
  readonly accountId: string
  readonly limit: number
  readonly id?: string
  readonly taskId?: string
  readonly state?: DeliveryRow['state']
  /** The id of the last delivery of the page before. */
  readonly after?: string
}

/** Deliveries of an account with their attempts, the newest first. */
export function selectDeliveries(sql: Sql, filter: DeliveryFilter): Promise<DeliveryRow[]> {
  const { accountId, limit, id, taskId, state, after } = filter
  return sql<DeliveryRow[]>`
    select d.id, d.account_id, d.task_id, d.kind, d.url, d.redelivery_of, d.state, d.attempts,
      case when d.state = 'pending' and d.lease_until is null then d.due_at end as next_attempt_at,
      d.created_at, d.finished_at,
      coalesce((
        select json_agg(json_build_object('number', a.number, 'started_at', a.started_at,
          'outcome', a.outcome, 'status', a.status, 'error', a.error,
          'latency_ms', a.latency_ms, 'answer', encode(a.answer, 'base64')) order by a.number)
        from delivery_attempt a where a.delivery_id = d.id), '[]') as history
    from delivery d
    where d.account_id = ${accountId}
      ${id === undefined ? sql`` : sql`and d.id = ${id}`}
      ${
        taskId === undefined
          ? sql``
          : sql`and d.task_id in (
              select ${taskId} union all
              select task_id from task_attempt where upstream_id = ${taskId})`
      }
      ${state === undefined ? sql`` : sql`and d.state = ${state}`}
      ${
        after === undefined
          ? sql``
          : sql`and (d.created_at, d.id) <
              (select created_at, id from delivery
                where id = ${after} and account_id = ${accountId})`
      }
    order by d.created_at desc, d.id desc limit ${limit}`
}

/** What a redelivery repeats; only of this account. */
export async function readDelivered(
  sql: Sql,
  accountId: string,
  id: string,
): Promise<Omit<InsertedDelivery, 'id'> | undefined> {
  const [row] = await sql<Omit<InsertedDelivery, 'id'>[]>`
    select account_id as "accountId", task_id as "taskId", kind, url, host, body,
      coalesce(redelivery_of, id) as "redeliveryOf"
    from delivery where account_id = ${accountId} and id = ${id}`
  return row
}

/** Whose delivery it is; for operators, who may see all of them. */
export async function accountOfDelivery(sql: Sql, id: string): Promise<string | undefined> {
  const [row] = await sql<{ account_id: string }[]>`
    select account_id from delivery where id = ${id}`
  return row?.account_id
}

/** Deliveries that a person asked for and that are not over. */
export async function countAskedFor(sql: Sql, accountId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from delivery
    where account_id = ${accountId} and state = 'pending'
      and (task_id is null or redelivery_of is not null)`
  return row?.count ?? 0
}

/** How far the announcement of a task's end has come; undefined when there is none. */
export async function readCallback(
  sql: Sql,
  taskId: string,
): Promise<{ readonly status: string; readonly attempts: number } | undefined> {
  const [row] = await sql<{ status: string; attempts: number }[]>`
    select state as status, attempts from delivery
    where task_id = ${taskId} and redelivery_of is null`
  return row
}

export interface DeliveryAttemptRow {
  readonly at: Date
  readonly number: number
  /** `sending` while it is under way. */
  readonly outcome: string
  readonly status: number | null
}

/** Every attempt to announce a task's end, those that a person asked for included. */
export function listCallbackAttempts(sql: Sql, taskId: string): Promise<DeliveryAttemptRow[]> {
  return sql<DeliveryAttemptRow[]>`
    select a.started_at as at, a.number, coalesce(a.outcome, 'sending') as outcome, a.status
    from delivery d join delivery_attempt a on a.delivery_id = d.id
    where d.task_id = ${taskId} order by a.started_at, a.number limit 100`
}
