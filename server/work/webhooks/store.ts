/** The SQL of deliveries: insert, list, and read with their attempts. */

import type { Sql, TransactionSql } from 'postgres'
import { behind, during, equal } from '../../base/database/conditions.ts'
import type { DeliveryOutcome, DeliveryStatus } from '../../base/lib/kinds-and-states.ts'

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
}

/** The channel that wakes the senders of every gateway when a transaction commits. */
export const DELIVERY_NOTIFICATIONS = 'tributary_delivery'

/** Inserts a delivery. Rejects when the task already has one. */
export async function insertDelivery(
  sql: Sql | TransactionSql,
  delivery: InsertedDelivery,
): Promise<void> {
  await sql`
    with inserted as (
      insert into delivery (id, account_id, task_id, kind, url, host, body)
      values (${delivery.id}, ${delivery.accountId}, ${delivery.taskId}, ${delivery.kind},
        ${delivery.url}, ${delivery.host}, ${delivery.body})
      returning 1)
    select pg_notify(${DELIVERY_NOTIFICATIONS}, '') from inserted`
}

export interface DeliveryRow {
  readonly id: string
  readonly account_id: string
  readonly task_id: string | null
  readonly kind: string
  readonly url: string
  /** The first delivery of the chain that this one belongs to. */
  readonly redelivery_of: string | null
  /** The id of the delivery that repeats this one. */
  readonly repeated_by: string | null
  readonly state: DeliveryStatus
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
  readonly outcome: DeliveryOutcome | null
  readonly status: number | null
  readonly error: string | null
  readonly latency_ms: number | null
  /** The head of the response body in base64, at most 1 KiB of it. */
  readonly answer: string | null
}

export interface DeliveryFilter {
  /** Undefined for operators, who read the deliveries of all accounts. */
  readonly accountId: string | undefined
  readonly limit: number
  readonly id?: string | undefined
  readonly taskId?: string | undefined
  readonly state?: DeliveryRow['state'] | undefined
  /** A name with or without its port. */
  readonly host?: string | undefined
  /** Created at or after `from` and before `to`. */
  readonly from?: Date | undefined
  readonly to?: Date | undefined
  /** The id of the last delivery on the previous page. */
  readonly after?: string | undefined
}

/** Returns deliveries with their attempts, the newest first. */
export function selectDeliveries(sql: Sql, filter: DeliveryFilter): Promise<DeliveryRow[]> {
  const { limit } = filter
  return sql<DeliveryRow[]>`
    select d.id, d.account_id, d.task_id, d.kind, d.url, d.redelivery_of, d.state, d.attempts,
      (select r.id from delivery r
        where r.repeats = d.id and r.account_id = d.account_id) as repeated_by,
      case when d.state = 'pending' and d.lease_until is null then d.due_at end as next_attempt_at,
      d.created_at, d.finished_at,
      coalesce((
        select json_agg(json_build_object('number', a.number, 'started_at', a.started_at,
          'outcome', a.outcome, 'status', a.status, 'error', a.error,
          'latency_ms', a.latency_ms, 'answer', encode(a.answer, 'base64')) order by a.number)
        from delivery_attempt a where a.delivery_id = d.id), '[]') as history
    from delivery d
    where true ${narrowDeliveries(sql, filter)}
    order by d.created_at desc, d.id desc limit ${limit}`
}

/** Narrows `delivery d` to one page of a list, the newest first. */
export function narrowDeliveries(sql: Sql, filter: DeliveryFilter) {
  const { accountId, id, taskId, state, host, after } = filter
  return sql`${accountId === undefined ? sql`` : sql`and d.account_id = ${accountId}`}
    ${equal(sql, { 'd.id': id, 'd.state': state })}
    ${
      !taskId
        ? sql``
        : sql`and d.task_id in (
            select ${taskId} union all
            select task_id from task_attempt where upstream_id = ${taskId})`
    }
    ${!host ? sql`` : ofHost(sql, host)}
    ${during(sql, 'd.created_at', filter)}
    ${behind(sql, 'delivery', after, { alias: 'd', accountId })}`
}

/** A delivery's host is stored as host:port; a filter names it with or without the port. */
export function ofHost(sql: Sql, host: string) {
  const name = host.toLowerCase()
  return sql`and (d.host = ${name} or starts_with(d.host, ${`${name}:`}))`
}

/** Returns the account of a delivery, for operators, who may read all deliveries. */
export async function accountOfDelivery(sql: Sql, id: string): Promise<string | undefined> {
  const [row] = await sql<{ account_id: string }[]>`
    select account_id from delivery where id = ${id}`
  return row?.account_id
}

/** The task whose end is delivered. */
export interface DeliveredTask {
  readonly id: string
  readonly account_id: string
}

/** Returns the state of a task's delivery; undefined when it has none. */
export async function readTaskDelivery(
  sql: Sql,
  task: DeliveredTask,
): Promise<{ readonly status: string; readonly attempts: number } | undefined> {
  const [row] = await sql<{ status: string; attempts: number }[]>`
    select state as status, attempts from delivery
    where task_id = ${task.id} and account_id = ${task.account_id} and redelivery_of is null`
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
export function listTaskDeliveryAttempts(
  sql: Sql,
  task: DeliveredTask,
): Promise<DeliveryAttemptRow[]> {
  return sql<DeliveryAttemptRow[]>`
    select a.started_at as at, a.number, coalesce(a.outcome, 'sending') as outcome, a.status
    from delivery d join delivery_attempt a on a.delivery_id = d.id
    where d.task_id = ${task.id} and d.account_id = ${task.account_id}
    order by a.started_at, a.number limit 100`
}
