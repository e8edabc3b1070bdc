/** Webhook operations for account owners and operators: secrets, deliveries, redelivery, tests. */
import type { Sql } from 'postgres'
import { GatewayError } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import type { SecretBox } from '../lib/secrets/secrets.ts'
import { hostOf } from './enqueue.ts'
import { getOrCreateSecret, rotateSecret, type WebhookSecret } from './secrets.ts'
import {
  countRequestedDeliveries,
  type DeliveryFilter,
  type DeliveryRow,
  insertDelivery,
  readForRedelivery,
  selectDeliveries,
} from './store.ts'

/** Pending tests and redeliveries of one account. */
const REQUESTED_PENDING_MAX = 50

export interface Webhooks {
  /** Returns the account's secret, creating it on first use. */
  secret(accountId: string): Promise<WebhookSecret>
  /** Creates a new secret; the previous one signs as well for 24 hours. */
  rotate(accountId: string): Promise<WebhookSecret>
  /** Lists deliveries, the newest first. */
  list(filter: DeliveryFilter): Promise<DeliveryRow[]>
  find(accountId: string, id: string): Promise<DeliveryRow | undefined>
  /** Sends the same bytes to the same URL as a new delivery; undefined for an unknown id. */
  redeliver(accountId: string, id: string): Promise<DeliveryRow | undefined>
  /** Sends an example payload. The guard must have accepted the URL. */
  test(accountId: string, url: string): Promise<DeliveryRow>
}

export function createWebhooks(sql: Sql, secrets: SecretBox): Webhooks {
  async function find(accountId: string, id: string): Promise<DeliveryRow | undefined> {
    const [row] = await selectDeliveries(sql, { accountId, id, limit: 1 })
    return row
  }
  /** Limits sending on demand, which could otherwise flood a third party's host. */
  async function limitRequested(accountId: string): Promise<void> {
    if ((await countRequestedDeliveries(sql, accountId)) < REQUESTED_PENDING_MAX) return
    throw new GatewayError('rate_limited', { retryAfterSeconds: 60 })
  }
  return {
    secret: (accountId) => getOrCreateSecret(sql, secrets, accountId),
    rotate: (accountId) => rotateSecret(sql, secrets, accountId),
    list: (filter) => selectDeliveries(sql, filter),
    find,
    async redeliver(accountId, deliveryId) {
      const original = await readForRedelivery(sql, accountId, deliveryId)
      if (!original) return undefined
      await limitRequested(accountId)
      const id = newId('whd')
      await insertDelivery(sql, { ...original, id })
      return await find(accountId, id)
    },
    async test(accountId, url) {
      await limitRequested(accountId)
      const id = newId('whd')
      const body = Buffer.from(JSON.stringify(testPayload(id)))
      const delivery = { accountId, taskId: null, kind: 'test', redeliveryOf: null }
      await insertDelivery(sql, { ...delivery, id, url, host: hostOf(url), body })
      const row = await find(accountId, id)
      if (!row) throw new Error(`the delivery ${id} is gone`)
      return row
    },
  }
}

/** Returns a payload in the form of a succeeded task's, which receivers already accept. */
function testPayload(id: string) {
  const now = new Date().toISOString()
  return {
    task_id: `test_${id}`,
    kind: 'test',
    status: 'succeeded',
    created_at: now,
    finished_at: now,
  }
}
