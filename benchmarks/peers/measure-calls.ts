/** Measures a run of calls: their rate, and what each costs the server and its database. */
import { readCpuSeconds } from '../../testbed/proc.ts'
import type { Peer } from './start-peers.ts'
import { runWrk, type WrkOptions } from './wrk.ts'

export interface CallCosts {
  readonly requests: number
  readonly perSecond: number
  /** User and system time of a call, in the server's processes without its database. */
  readonly gatewayMicroseconds: number
  /** The same in the database; 0 without one. */
  readonly databaseMicroseconds: number
  readonly errors: number
}

export async function measureCalls(peer: Peer, options: WrkOptions): Promise<CallCosts> {
  const { pid, databasePid } = peer
  const own = () => readCpuSeconds(pid, databasePid)
  const database = () => (databasePid === undefined ? 0 : readCpuSeconds(databasePid))
  const before = { own: own(), database: database() }
  const { requests, perSecond, errors } = await runWrk(peer, options)
  const each = (spent: number) => (spent * 1e6) / Math.max(1, requests)
  return {
    requests,
    perSecond,
    gatewayMicroseconds: each(own() - before.own),
    databaseMicroseconds: each(database() - before.database),
    errors,
  }
}
