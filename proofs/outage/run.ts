/** Runs load and faults for a while, waits until all is quiet, and compares the books. */
import { audit } from '../../server/money/ledger/audit/audit.ts'
import type { FinishedCall } from '../../testbed/calls.ts'
import { createRandom } from '../../testbed/random.ts'
import type { PostgresChoice } from '../../tests/support/database/chosen-postgres.ts'
import { until } from '../../tests/support/until.ts'
import { FAULTS, type Fault, runFaults } from './faults.ts'
import { judge, type Row, readRows } from './judge.ts'
import { type CallerRequest, startLoad } from './load.ts'
import { openStage } from './stage.ts'

export interface OutageOptions {
  readonly milliseconds: number
  readonly seed: number
  readonly perSecond: number
  readonly faults?: readonly [Fault, ...Fault[]]
  /** Limits the duration of every fault. */
  readonly longestMs?: number
  readonly streamMsMax?: number
  readonly log?: (text: string) => void
  readonly postgres?: PostgresChoice
}

export interface OutageResult {
  readonly breaks: readonly string[]
  readonly faults: ReadonlyMap<string, number>
  readonly requests: readonly CallerRequest[]
  readonly rows: readonly Row[]
  readonly bookedNanos: bigint
  readonly chargedNanos: bigint
  readonly logs: string
}

/** A killed gateway counts as dead after its lease and its sweeper's. */
const CLOSED_WITHIN_MS = 150_000
const ACCOUNTS = 4

export async function proveOutage(options: OutageOptions): Promise<OutageResult> {
  const { milliseconds, seed, perSecond, faults = FAULTS, longestMs = 90_000 } = options
  const { log = () => undefined, streamMsMax, postgres = 'embedded' } = options
  const random = createRandom(seed)
  const keys = Math.ceil((milliseconds / 1_000 + 120) * perSecond)
  const stage = await openStage({ accounts: ACCOUNTS, keys, postgres })
  try {
    const pace = streamMsMax === undefined ? { perSecond } : { perSecond, streamMsMax }
    const load = startLoad(stage, createRandom(seed + 1), pace)
    const untilMs = performance.now() + milliseconds
    const faultCounts = await runFaults(stage, random, { untilMs, list: faults, longestMs, log })
    log('the load ends')
    const requests = await load.end()
    log('waiting for the last open hold')
    const isQuiet = await until('quiet', () => areClosed(), CLOSED_WITHIN_MS).catch(() => false)
    const entries = await stage.simulators.readBook()
    const rows = await readRows(stage.sql)
    const compared = compare(requests, rows, entries, stage.killed)
    const { checks } = await audit(stage.sql)
    const broken = checks.filter(({ ok }) => !ok).map((check) => `audit: ${JSON.stringify(check)}`)
    const waiting = rows.filter((row) => isWaiting(row, stage.killed))
    const open = isQuiet ? [] : [`not put right in time: ${JSON.stringify(waiting.map(describe))}`]
    const breaks = [...compared.breaks, ...broken, ...open]
    return { ...compared, breaks, faults: faultCounts, requests, rows, logs: stage.logs() }
  } finally {
    await stage.close()
  }

  async function areClosed(): Promise<true | undefined> {
    const rows = await readRows(stage.sql)
    return rows.some((row) => isWaiting(row, stage.killed)) ? undefined : true
  }
}

/**
 * Returns true for a hold that is open, or was closed as lost while its process lives: a correction
 * is due.
 */
function isWaiting({ state, status, address }: Row, killed: ReadonlySet<string>): boolean {
  return state === 'open' || (status === 'lost' && !killed.has(address ?? ''))
}

function describe({ request_id, state, status, address }: Row) {
  return { request_id, state, status, address }
}

function compare(
  requests: readonly CallerRequest[],
  rows: readonly Row[],
  entries: Parameters<typeof judge>[2],
  killed: ReadonlySet<string>,
) {
  const byKey = Map.groupBy(rows, ({ key_id }) => key_id)
  const byMarker = Map.groupBy(entries, ({ marker }) => marker ?? '')
  const judged = requests.map((one) =>
    judge(one, byKey.get(one.keyId) ?? [], byMarker.get(one.call.marker) ?? [], killed),
  )
  return {
    breaks: judged.flatMap(({ breaks }) => breaks),
    bookedNanos: judged.reduce((sum, one) => sum + one.bookedNanos, 0n),
    chargedNanos: judged.reduce((sum, one) => sum + one.chargedNanos, 0n),
  }
}

export function countBy<T>(list: readonly T[], name: (one: T) => string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const one of list) counts[name(one)] = (counts[name(one)] ?? 0) + 1
  return counts
}

export function allAttempts(requests: readonly CallerRequest[]): readonly FinishedCall[] {
  return requests.flatMap(({ attempts }) => attempts)
}
