/** Whether the database answers, and how far its clock is from ours. */
import type { Sql } from 'postgres'
import { readClockSkew } from './store.ts'

const PROBE_MS = 2_000

/** Positive: our clock is ahead. Rejects when there is no answer within two seconds. */
export async function probeDatabase(sql: Sql): Promise<{ readonly skewMs: number }> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('no answer in time')), PROBE_MS)
  try {
    return { skewMs: await Promise.race([readClockSkew(sql), late.promise]) }
  } finally {
    clearTimeout(timer)
  }
}
