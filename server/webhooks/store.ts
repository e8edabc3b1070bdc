/** The SQL of deliveries: insert, list, and read with their attempts. */
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

/** The channel that wakes the senders of every gateway when a transaction commits. */
export const DELIVERY_NOTIFICATIONS = 'tributary_delivery'

/** Inserts a delivery. Rejects when the task already has one and this is no redelivery. */
export async function insertDelivery(
  sql: Sql | TransactionSql,
  delivery: InsertedDelivery,
): Promise<void> {
  await sql`
    with inserted as (
      insert into delivery (id, account_id, task_id, kind, url, host, body, redelivery_of)
      values (${delivery.id}, ${delivery.accountId}, ${delivery.taskId}, ${delivery.kind},
        ${delivery.url}, ${delivery.host}, ${delivery.body}, ${delivery.redeliveryOf})
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
  /** Time of the next attempt; null when none is scheduled. */
  readonly next_attempt_at: Date | null
  readonly created_at: Date
  readonly finished_at: Date | null
  readonly history: readonly AttemptView[]
}

/** An attempt, as the database's JSON represents it. */
export interface AttemptView {
  readonly number: number
  readonly started_at: string
  readonly outcome: 'accepted' | 'refused' | 'lost' | null
  readonly status: number | null
  readonly error: string | null
  readonly latency_ms: number | null
  /** The head of the response body in base64, at most 1 KiB of it. */
  readonly answer: string | null
}

export interface DeliveryFilter {
  readonly accountId: string
  readonly limit: number
  readonly id?: string
  readonly taskId?: string
  readonly state?: DeliveryRow['state']
  /** The id of the last delivery on the previous page. */
  readonly after?: string
}

/** Returns an account's deliveries with their attempts, the newest first. */
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

/** Returns the members of a delivery that a redelivery repeats. */
export async function readForRedelivery(
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

/** Returns the account of a delivery, for operators, who may read all deliveries. */
export async function accountOfDelivery(sql: Sql, id: string): Promise<string | undefined> {
  const [row] = await sql<{ account_id: string }[]>`
    select account_id from delivery where id = ${id}`
  return row?.account_id
}

/** Counts pending deliveries that a person requested: tests and redeliveries. */
export async function countRequestedDeliveries(sql: Sql, accountId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from delivery
    where account_id = ${accountId} and state = 'pending'
      and (task_id is null or redelivery_of is not null)`
  return row?.count ?? 0
}

/** Returns the state of a task's delivery; undefined when it has none. */
export async function readTaskDelivery(
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
  /** `sending` until the outcome is known. */
  readonly outcome: string
  readonly status: number | null
}

/** Returns the attempts of a task's delivery, including those of redeliveries. */
export function listTaskDeliveryAttempts(sql: Sql, taskId: string): Promise<DeliveryAttemptRow[]> {
  return sql<DeliveryAttemptRow[]>`
    select a.started_at as at, a.number, coalesce(a.outcome, 'sending') as outcome, a.status
    from delivery d join delivery_attempt a on a.delivery_id = d.id
    where d.task_id = ${taskId} order by a.started_at, a.number limit 100`
}
