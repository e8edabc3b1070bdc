/** Checks that the database responds, and that it still is one on which money is safe. */
import type { Sql } from 'postgres'
import { findRefusal } from './judge-server.ts'
import { readClockSkew, readServer } from './store.ts'

const PROBE_MS = 2_000

export interface DatabaseState {
  /** Positive if the local clock is ahead. */
  readonly skewMs: number
  /** The reason to refuse this server, whose settings may have changed since the start. */
  readonly refusal: string | undefined
}

/** Rejects after two seconds without a response. */
export async function probeDatabase(sql: Sql): Promise<DatabaseState> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('no answer in time')), PROBE_MS)
  const read = async () => {
    const [skewMs, server] = await Promise.all([readClockSkew(sql), readServer(sql)])
    return { skewMs, refusal: findRefusal(server) }
  }
  try {
    return await Promise.race([read(), late.promise])
  } finally {
    clearTimeout(timer)
  }
}
