/** Checks that the database responds, and that its settings still keep the books safe. */
import type { Sql } from 'postgres'
import { withinTime } from '../lib/queues/within-time.ts'
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
export function probeDatabase(sql: Sql): Promise<DatabaseState> {
  return withinTime(readState(sql), PROBE_MS, () => new Error('no answer in time'))
}

async function readState(sql: Sql): Promise<DatabaseState> {
  const [skewMs, server] = await Promise.all([readClockSkew(sql), readServer(sql)])
  return { skewMs, refusal: findRefusal(server) }
}
