/** SQL of the console's list of deliveries, which omits bodies and receivers' responses. */
import type { Sql } from 'postgres'
import {
  type AttemptView,
  type DeliveryFilter,
  type DeliveryRow,
  narrowDeliveries,
} from '../../../webhooks/store.ts'

export interface DeliveryListRow extends Omit<DeliveryRow, 'history' | 'account_id'> {
  readonly last: Pick<AttemptView, 'outcome' | 'status' | 'error' | 'latency_ms'> | null
}

/** Lists deliveries, newest first. */
export function selectDeliveryList(sql: Sql, filter: DeliveryFilter): Promise<DeliveryListRow[]> {
  return sql<DeliveryListRow[]>`
    select d.*, (select r.id from delivery r where r.repeats = d.id) as repeated_by, (
      select json_build_object('outcome', a.outcome, 'status', a.status, 'error', a.error,
        'latency_ms', a.latency_ms)
      from delivery_attempt a where a.delivery_id = d.id order by a.number desc limit 1) as last
    from (
      select id, task_id, kind, url, redelivery_of, state, attempts::int,
        case when state = 'pending' and lease_until is null then due_at end as next_attempt_at,
        created_at, finished_at
      from delivery d where true ${narrowDeliveries(sql, filter)}
      order by created_at desc, id desc limit ${filter.limit}) d
    order by d.created_at desc, d.id desc`
}

/** Returns the first bytes of a delivery's body. */
export async function readDeliveryBody(
  sql: Sql,
  accountId: string,
  id: string,
  bytesMax: number,
): Promise<Buffer | undefined> {
  const [row] = await sql<{ body: Buffer }[]>`
    select substring(body for ${bytesMax}) as body from delivery
    where id = ${id} and account_id = ${accountId}`
  return row?.body
}
