/** Measures a server's memory before, during and after a load. */
import { setTimeout as sleep } from 'node:timers/promises'
import { readMemoryMb } from '../../testbed/proc.ts'
import type { Peer } from './start-peers.ts'
import { runWrk } from './wrk.ts'

const CONNECTIONS = 32
const RECOVERY_MS = 5_000

/** Megabytes, without the database. */
export interface Memory {
  readonly idle: number
  readonly steady: number
  readonly recovered: number
  /** Megabytes a minute over the second half of the load. */
  readonly growth: number
}

export async function measureMemory(
  peer: Peer,
  { seconds, kilobytes }: { readonly seconds: number; readonly kilobytes: number },
): Promise<Memory> {
  const read = () => readMemoryMb(peer.pid, peer.databasePid)
  const half = seconds / 2
  const load = () =>
    runWrk(peer, { stream: false, connections: CONNECTIONS, seconds: half, kilobytes })
  const idle = read()
  await load()
  const before = read()
  await load()
  const steady = read()
  await sleep(RECOVERY_MS)
  return { idle, steady, recovered: read(), growth: ((steady - before) * 60) / half }
}
