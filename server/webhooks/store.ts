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
const NOTIFICATIONS = 'tributary_delivery'

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
    select pg_notify(${NOTIFICATIONS}, '') from inserted`
}
