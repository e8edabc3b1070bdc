/** Limits of requests that take no hold: those of the same moment share one statement. */
import { randomUUID } from 'node:crypto'
import type { Sql } from 'postgres'
import { GatewayError } from '../../lib/errors.ts'
import { createBatcher, QueueFull } from '../../lib/queues/batcher.ts'
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
  const batcher = createBatcher<UnheldRequest, number>({
    run: (requests) => takeRates(options.sql, requests),
    batchLimit: BATCH_LIMIT,
    queueLimit: QUEUE_LIMIT,
  })
  return {
    async take(request) {
      try {
        return await batcher.add({ ...request, id: randomUUID() })
      } catch (cause) {
        if (!(cause instanceof QueueFull) && !options.isUnavailable(cause)) throw cause
        throw new GatewayError('unavailable', { retryAfterSeconds: 2, cause })
      }
    },
  }
}
