/** Webhook operations for account owners and operators: secrets, deliveries, redelivery, tests. */
import type { Sql } from 'postgres'
import { GatewayError, invalidField } from '../../base/lib/errors.ts'
import { newId } from '../../base/lib/ids.ts'
import type { SecretBox } from '../../base/lib/secrets/secrets.ts'
import { hostOf } from './enqueue.ts'
import {
  countDropped,
  countRequested,
  type DroppedFilter,
  findRepeat,
  repeatDelivery,
  repeatDropped,
} from './redelivery-store.ts'
import { getOrCreateSecret, rotateSecret, type WebhookSecret } from './secrets.ts'
import { type DeliveryFilter, type DeliveryRow, insertDelivery, selectDeliveries } from './store.ts'

/** The most pending tests of one account. */
const TESTS_PENDING_MAX = 50
/** The most pending redeliveries of one account, and redeliveries of one request. */
export const REDELIVERIES_MAX = 500
/** Further dropped deliveries are not counted. */
const DROPPED_COUNT_MAX = 10_000
/** The longest span whose dropped deliveries are sent again at once. */
const SPAN_HOURS_MAX = 24

export interface RedeliveredAll {
  readonly redelivered: number
  /** Dropped deliveries that match and that nobody has sent again, up to DROPPED_COUNT_MAX. */
  readonly remaining: number
}

export interface Webhooks {
  /** Returns the account's secret, creating it on first use. */
  secret(accountId: string): Promise<WebhookSecret>
  /** Creates a new secret; the previous one signs as well for 24 hours. */
  rotate(accountId: string): Promise<WebhookSecret>
  /** Lists deliveries, the newest first. */
  list(filter: DeliveryFilter): Promise<DeliveryRow[]>
  find(accountId: string, id: string): Promise<DeliveryRow | undefined>
  /**
   * Sends the same bytes to the same URL as a new delivery; undefined for an unknown id. This
   * happens once per delivery: a repeated request returns the same new one. Throws `conflict` while
   * it is pending.
   */
  redeliver(accountId: string, id: string): Promise<DeliveryRow | undefined>
  /**
   * Sends the dropped deliveries of a span again, each once, at most REDELIVERIES_MAX at a time.
   * For a dry run, only counts them.
   */
  redeliverDropped(filter: DroppedFilter, isDryRun: boolean): Promise<RedeliveredAll>
  /** Sends an example payload. The guard must have accepted the URL. */
  test(accountId: string, url: string): Promise<DeliveryRow>
}

export function createWebhooks(sql: Sql, secrets: SecretBox): Webhooks {
  async function find(accountId: string, id: string): Promise<DeliveryRow | undefined> {
    const [row] = await selectDeliveries(sql, { accountId, id, limit: 1 })
    return row
  }
  /** Returns how many redeliveries the account may still ask for. */
  async function readRoom(accountId: string): Promise<number> {
    const { redeliveries } = await countRequested(sql, accountId)
    if (redeliveries >= REDELIVERIES_MAX) throw tooMany()
    return REDELIVERIES_MAX - redeliveries
  }
  return {
    secret: (accountId) => getOrCreateSecret(sql, secrets, accountId),
    rotate: (accountId) => rotateSecret(sql, secrets, accountId),
    list: (filter) => selectDeliveries(sql, filter),
    find,
    async redeliver(accountId, id) {
      const original = await find(accountId, id)
      if (!original) return undefined
      if (original.state === 'pending') throw stillPending(original)
      if (original.repeated_by === null) {
        await readRoom(accountId)
        await repeatDelivery(sql, { accountId, id, newId: newId('whd') })
      }
      return await find(accountId, (await findRepeat(sql, accountId, id)) ?? '')
    },
    async redeliverDropped(filter, isDryRun) {
      checkSpan(filter)
      let redelivered = 0
      if (!isDryRun) {
        const { accountId } = filter
        const room = accountId === undefined ? REDELIVERIES_MAX : await readRoom(accountId)
        const ids = Array.from({ length: room }, () => newId('whd'))
        redelivered = await repeatDropped(sql, filter, ids)
      }
      return { redelivered, remaining: await countDropped(sql, filter, DROPPED_COUNT_MAX) }
    },
    async test(accountId, url) {
      if ((await countRequested(sql, accountId)).tests >= TESTS_PENDING_MAX) throw tooMany()
      const id = newId('whd')
      const body = Buffer.from(JSON.stringify(testPayload(id)))
      const delivery = { accountId, taskId: null, kind: 'test' }
      await insertDelivery(sql, { ...delivery, id, url, host: hostOf(url), body })
      const row = await find(accountId, id)
      if (!row) throw new Error(`the delivery ${id} no longer exists`)
      return row
    },
  }
}

/** Sending on demand could otherwise flood a third party's host. */
function tooMany(): GatewayError {
  const message = 'too many tests or redeliveries are pending: wait until some have ended'
  return new GatewayError('rate_limited', { message, retryAfterSeconds: 60 })
}

function stillPending({ next_attempt_at: next }: DeliveryRow): GatewayError {
  const when = next ? `its next attempt is at ${next.toISOString()}` : 'an attempt is in progress'
  return new GatewayError('conflict', { message: `the delivery is still pending: ${when}` })
}

function checkSpan({ from, to }: DroppedFilter): void {
  const hours = (to.getTime() - from.getTime()) / 3_600_000
  if (hours <= 0) throw invalidField('to', 'must be after from')
  if (hours > SPAN_HOURS_MAX) throw invalidField('to', 'must be at most 24 hours after from')
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
