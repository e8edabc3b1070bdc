/** One cycle: load, kill -9, restart, and a comparison of all books. */
import { setTimeout as sleep } from 'node:timers/promises'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { compareBooks, readClock, readLedger, type Verdict } from '../../testbed/books.ts'
import { waitForHolds } from '../../testbed/holds.ts'
import type { Laboratory } from '../../testbed/laboratory.ts'
import { killPostmaster } from '../../testbed/postmaster.ts'
import type { Random } from '../../testbed/random.ts'
import type { GatewayProcess } from '../../tests/support/gateway.ts'
import { until } from '../../tests/support/until.ts'
import { type Load, startLoad } from './load.ts'

export type Victim = 'gateway' | 'postgres' | 'both'

export interface CycleOptions {
  readonly cycle: number
  readonly victim: Victim
  readonly loadMs: number
  readonly perSecond: number
  readonly random: Random
}

export interface CycleResult {
  readonly verdicts: readonly Verdict[]
  readonly breaks: readonly string[]
  /** From the start of the new process to ready; null if the gateway was not killed. */
  readonly bootMs: number | null
  /** From the kill to the first paid answer. */
  readonly backMs: number
  /** From the first paid answer until no hold was open. */
  readonly closedMs: number
  readonly bookSequence: number
}

/** The load continues this long after a database was killed and has restarted. */
const AFTERMATH_MS = 300

/** Runs one cycle. Returns the gateway that runs afterwards. */
export async function runCycle(
  laboratory: Laboratory,
  gateway: GatewayProcess,
  bookSince: number,
  options: CycleOptions,
): Promise<{ readonly gateway: GatewayProcess; readonly result: CycleResult }> {
  const { cycle, victim, random, loadMs, perSecond } = options
  const since = await laboratory.withDatabase(readClock)
  const { keys } = laboratory
  const { url } = gateway
  const load = startLoad({ url, keys, perSecond, markerPrefix: `c${cycle}`, random })
  await sleep(loadMs)
  const calls = [...(victim === 'postgres' ? [] : [load.end()])]
  const killedAt = performance.now()
  await kill(laboratory, gateway, victim, random)
  const survivor = victim === 'postgres' ? gateway : await laboratory.startGateway()
  const bootMs = victim === 'postgres' ? null : survivor.readyMs
  const probes = victim === 'postgres' ? load : startProbes(laboratory, options)
  await waitForService(probes)
  const backMs = performance.now() - killedAt
  if (victim === 'postgres') await sleep(AFTERMATH_MS)
  calls.push(probes.end())
  const finished = (await Promise.all(calls)).flat()
  const entries = await laboratory.simulators.readBook(bookSince)
  const books = await laboratory.withDatabase(async (sql) => {
    const closedMs = await waitForHolds(sql)
    const rows = await readLedger(sql, since)
    return { ...compareBooks(finished, rows, entries), closedMs, audited: await audit(sql) }
  })
  const failed = books.audited.checks.filter((check) => !check.ok)
  const breaks = [...books.breaks, ...failed.map(({ id, title }) => `audit ${id}: ${title}`)]
  const bookSequence = entries.at(-1)?.sequence ?? bookSince
  const { verdicts, closedMs } = books
  return {
    gateway: survivor,
    result: { verdicts, breaks, bootMs, backMs, closedMs, bookSequence },
  }
}

async function kill(
  laboratory: Laboratory,
  gateway: GatewayProcess,
  victim: Victim,
  random: Random,
): Promise<void> {
  const killPostgres = () => killPostmaster(laboratory.dataDir)
  if (victim === 'gateway') return await gateway.kill9()
  if (victim === 'postgres') return killPostgres()
  const pause = random.pick([0, 0, 50, 500])
  if (random.next() < 0.5) {
    killPostgres()
    await sleep(pause)
    await gateway.kill9()
  } else {
    await gateway.kill9()
    await sleep(pause)
    killPostgres()
  }
}

/** Starts calls after the restart, with keys that the earlier load did not use. */
function startProbes(laboratory: Laboratory, options: CycleOptions): Load {
  const { cycle, random, perSecond } = options
  const half = Math.floor(laboratory.keys.length / 2)
  return startLoad({
    url: laboratory.gatewayUrl,
    keys: laboratory.keys.slice(half),
    perSecond: perSecond / 2,
    markerPrefix: `p${cycle}`,
    random,
  })
}

/** Asks often at first, to measure well, then seldom: each call takes a key for itself. */
async function waitForService(load: Load): Promise<void> {
  let pauseMs = 20
  await until('a paid answer', async () => {
    const { outcome } = await load.send('search')
    if (outcome === 'complete') return true
    await sleep(pauseMs)
    pauseMs = Math.min(pauseMs * 1.2, 1_000)
    return undefined
  })
}
