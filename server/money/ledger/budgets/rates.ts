/** Limits of requests that take no hold. Concurrent requests share one statement. */
import { randomUUID } from 'node:crypto'
import type { Sql } from 'postgres'
import { isLocked } from '../../../base/database/unavailable.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import { createBatcher, QueueFull } from '../../../base/lib/queues/batcher.ts'
import { findUnlocked } from '../posting/move-store.ts'
import { takeRates, type UnheldRequest } from './limit-store.ts'

export interface Rates {
  /**
   * Counts a request if it is within its limits. Resolves with the seconds to wait, or 0. Rejects
   * with `unavailable` if the database does not respond.
   */
  take(request: Omit<UnheldRequest, 'id'>): Promise<number>
}

const BATCH_LIMIT = 500
const QUEUE_LIMIT = 20_000

export function createRates(options: {
  readonly sql: Sql
  readonly isUnavailable: (error: unknown) => boolean
}): Rates {
  const batcher = createBatcher<UnheldRequest, number | null>({
    run: (requests) => takeUnlocked(options.sql, requests),
    batchLimit: BATCH_LIMIT,
    queueLimit: QUEUE_LIMIT,
  })
  return {
    async take(request) {
      try {
        const wait = await batcher.add({ ...request, id: randomUUID() })
        if (wait !== null) return wait
      } catch (cause) {
        if (!(cause instanceof QueueFull) && !options.isUnavailable(cause)) throw cause
        throw new GatewayError('unavailable', { retryAfterSeconds: 2, cause })
      }
      throw new GatewayError('unavailable', {
        retryAfterSeconds: 2,
        cause: 'the account is locked',
      })
    },
  }
}

/** Returns null for requests of accounts that another transaction has locked. */
async function takeUnlocked(
  sql: Sql,
  requests: readonly UnheldRequest[],
): Promise<readonly (number | null)[]> {
  try {
    return await takeRates(sql, requests)
  } catch (error) {
    if (!isLocked(error)) throw error
    const free = await findUnlocked(
      sql,
      requests.map(({ accountId }) => accountId),
    )
    const others = requests.filter(({ accountId }) => free.has(accountId))
    const waits = others.length > 0 ? await takeRates(sql, others) : []
    const found = new Map(others.map(({ id }, index) => [id, waits[index]]))
    return requests.map(({ id }) => found.get(id) ?? null)
  }
}
