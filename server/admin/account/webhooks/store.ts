/** SQL of the console's list of deliveries, which omits bodies and receivers' responses. */
import type { Sql } from 'postgres'
import type { AttemptView, DeliveryRow } from '../../../webhooks/store.ts'

export interface DeliveryListRow extends Omit<DeliveryRow, 'history' | 'account_id'> {
  readonly last: Pick<AttemptView, 'outcome' | 'status' | 'error' | 'latency_ms'> | null
}

/** Lists deliveries, newest first. */
export function selectDeliveryList(
  sql: Sql,
  filter: {
    readonly accountId: string
    readonly limit: number
    readonly after?: string | undefined
    readonly state?: DeliveryRow['state'] | undefined
    readonly taskId?: string | undefined
  },
): Promise<DeliveryListRow[]> {
  const { accountId, limit, after, state, taskId } = filter
  return sql<DeliveryListRow[]>`
    select d.*, (
      select json_build_object('outcome', a.outcome, 'status', a.status, 'error', a.error,
        'latency_ms', a.latency_ms)
      from delivery_attempt a where a.delivery_id = d.id order by a.number desc limit 1) as last
    from (
      select id, task_id, kind, url, redelivery_of, state, attempts::int,
        case when state = 'pending' and lease_until is null then due_at end as next_attempt_at,
        created_at, finished_at
      from delivery where account_id = ${accountId}
        ${state ? sql`and state = ${state}` : sql``}
        ${taskId ? sql`and task_id = ${taskId}` : sql``}
        ${
          after
            ? sql`and (created_at, id) < (select created_at, id from delivery
                where id = ${after} and account_id = ${accountId})`
            : sql``
        }
      order by created_at desc, id desc limit ${limit}) d
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
