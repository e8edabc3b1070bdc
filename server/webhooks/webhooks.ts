/** What owners of accounts, and operators for them, do with webhooks. */
import type { Sql } from 'postgres'
import { GatewayError } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import type { SecretBox } from '../lib/secrets/secrets.ts'
import { hostOf } from './enqueue.ts'
import { rotateSecret, viewSecret, type WebhookSecret } from './secrets.ts'
import {
  countAskedFor,
  type DeliveryFilter,
  type DeliveryRow,
  insertDelivery,
  readDelivered,
  selectDeliveries,
} from './store.ts'

/** Tests and redeliveries of one account that may wait at once. */
const ASKED_FOR_MAX = 50

export interface Webhooks {
  /** The account's secret, made at the first look. */
  secret(accountId: string): Promise<WebhookSecret>
  /** A new secret; the one before signs beside it for 24 hours. */
  rotate(accountId: string): Promise<WebhookSecret>
  /** The newest first. */
  list(filter: DeliveryFilter): Promise<DeliveryRow[]>
  find(accountId: string, id: string): Promise<DeliveryRow | undefined>
  /** The same bytes to the same URL, as a delivery of its own; undefined when there is none. */
  redeliver(accountId: string, id: string): Promise<DeliveryRow | undefined>
  /** Sends an example. The URL was checked by the guard. */
  test(accountId: string, url: string): Promise<DeliveryRow>
}

export function createWebhooks(sql: Sql, secrets: SecretBox): Webhooks {
  async function find(accountId: string, id: string): Promise<DeliveryRow | undefined> {
    const [row] = await selectDeliveries(sql, { accountId, id, limit: 1 })
    return row
  }
  /** Sending on demand must not become a way to trouble somebody else's host. */
  async function refuseCrowds(accountId: string): Promise<void> {
    if ((await countAskedFor(sql, accountId)) < ASKED_FOR_MAX) return
    throw new GatewayError('rate_limited', { retryAfterSeconds: 60 })
  }
  return {
    secret: (accountId) => viewSecret(sql, secrets, accountId),
    rotate: (accountId) => rotateSecret(sql, secrets, accountId),
    list: (filter) => selectDeliveries(sql, filter),
    find,
    async redeliver(accountId, deliveryId) {
      const first = await readDelivered(sql, accountId, deliveryId)
      if (!first) return undefined
      await refuseCrowds(accountId)
      const id = newId('whd')
      await insertDelivery(sql, { ...first, id })
      return await find(accountId, id)
    },
    async test(accountId, url) {
      await refuseCrowds(accountId)
      const id = newId('whd')
      const body = Buffer.from(JSON.stringify(testPayload(id)))
      const one = { accountId, taskId: null, kind: 'test', redeliveryOf: null }
      await insertDelivery(sql, { ...one, id, url, host: hostOf(url), body })
      const row = await find(accountId, id)
      if (!row) throw new Error(`the delivery ${id} is gone`)
      return row
    },
  }
}

/** Looks like the payload of a task that succeeded, so that a receiver reads it as one. */
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
