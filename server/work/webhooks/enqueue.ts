/** Enqueues a webhook delivery in the transaction of its cause: a task's end, or an alert. */
import type { TransactionSql } from 'postgres'
import { newId } from '../../base/lib/ids.ts'
import { insertDelivery } from './store.ts'

export interface NewDelivery {
  readonly accountId: string
  readonly taskId: string
  /** The kind of the task: `kind` in the payload. */
  readonly kind: string
  /** Checked by the guard at the task's creation, and again at every attempt. */
  readonly url: string
  /** JSON text. Every attempt sends the same bytes. */
  readonly body: string
}

/**
 * Enqueues the delivery of a task's end, one per task, in the caller's transaction, whose commit
 * wakes the senders. Returns the delivery's id. Rejects if the task already has a delivery.
 */
export async function enqueueDelivery(
  transaction: TransactionSql,
  { accountId, taskId, kind, url, body }: NewDelivery,
): Promise<string> {
  const id = newId('whd')
  await insertDelivery(transaction, {
    id,
    accountId,
    taskId,
    kind,
    url,
    host: hostOf(url),
    body: Buffer.from(body),
  })
  return id
}

/**
 * Enqueues the delivery of an alert in the caller's transaction. It has no task: the transaction
 * ensures that each alert is sent once.
 */
export async function enqueueAlertDelivery(
  transaction: TransactionSql,
  { accountId, url, body }: Pick<NewDelivery, 'accountId' | 'url' | 'body'>,
): Promise<void> {
  const delivery = { id: newId('whd'), accountId, taskId: null, kind: 'alert', url }
  await insertDelivery(transaction, { ...delivery, host: hostOf(url), body: Buffer.from(body) })
}

/** Returns the receiver's `host:port`, by which concurrent deliveries are limited. */
export function hostOf(url: string): string {
  const { protocol, hostname, port } = new URL(url)
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
}
