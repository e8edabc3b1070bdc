/** Writing a delivery down, in the transaction that makes it true. */
import type { TransactionSql } from 'postgres'
import { newId } from '../lib/ids.ts'
import { insertDelivery } from './store.ts'

export interface NewDelivery {
  readonly accountId: string
  readonly taskId: string
  /** What kind of task ended: the `kind` of its payload. */
  readonly kind: string
  /** Was checked by the guard when it was given; it is judged again at every attempt. */
  readonly url: string
  /** JSON text; its bytes are kept and are the same in every attempt. */
  readonly body: string
}

/**
 * Announces the end of a task: one delivery a task. Runs in the caller's transaction, whose commit
 * wakes the senders. Rejects when the task was announced before. Returns the delivery's id.
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
    redeliveryOf: null,
    host: hostOf(url),
    body: Buffer.from(body),
  })
  return id
}

/** What deliveries to one receiver share: its name and port. */
export function hostOf(url: string): string {
  const { protocol, hostname, port } = new URL(url)
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
}
