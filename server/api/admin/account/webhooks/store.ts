/** SQL of the console's list of deliveries, which omits bodies and receivers' responses. */
import type { Sql } from 'postgres'
import { columnsOf } from '../../../../base/database/columns.ts'
import { type DeliveryFilter, narrowDeliveries } from '../../../../work/webhooks/store.ts'
import type { SchemaRow } from '../../../endpoints/codecs.ts'
import { listed } from './contract.ts'

/** Lists deliveries, newest first. */
export function selectDeliveryList(
  sql: Sql,
  filter: DeliveryFilter,
): Promise<SchemaRow<typeof listed>[]> {
  const columns = columnsOf(sql, listed.shape, 'd', {
    status: sql`d.state`,
    redelivered_as: sql`(
      select r.id from delivery r where r.repeats = d.id and r.account_id = d.account_id)`,
    next_attempt_at: sql`
      case when d.state = 'pending' and d.lease_until is null then d.due_at end`,
    last: sql`(
      select json_build_object('outcome', a.outcome, 'status', a.status, 'error', a.error,
        'latency_ms', a.latency_ms)
      from delivery_attempt a where a.delivery_id = d.id order by a.number desc limit 1)`,
  })
  return sql<SchemaRow<typeof listed>[]>`
    select ${columns} from (
      select * from delivery d where true ${narrowDeliveries(sql, filter)}
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
