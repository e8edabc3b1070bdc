/** Checks that the database responds, and measures its clock difference. */
import type { Sql } from 'postgres'
import { readClockSkew } from './store.ts'

const PROBE_MS = 2_000

/**
 * `skewMs` is positive if the local clock is ahead. Rejects after two seconds without a response.
 */
export async function probeDatabase(sql: Sql): Promise<{ readonly skewMs: number }> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('no answer in time')), PROBE_MS)
  try {
    return { skewMs: await Promise.race([readClockSkew(sql), late.promise]) }
  } finally {
    clearTimeout(timer)
  }
}
