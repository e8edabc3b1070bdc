/**
 * Seals committed entries in blocks in the background. An entry with a lower id may commit after
 * one with a higher id, so a bound is observed first, with the transactions that are writing; once
 * these have ended, no entry can appear below the bound, and it is sealed.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import type { Log } from '../../../base/lib/log.ts'
import { OperatorError } from '../../../base/lib/operator-error.ts'
import { createWaker } from '../../../base/lib/queues/waker.ts'
import { type Observation, observeWriters, sealBlock } from './seal-store.ts'

/** Maximum ids per block: a block stores 16 bytes for each and takes about 30 ms to seal. */
const IDS_MAX = 10_000
const EVERY_MS = 1_000
/** Logs a warning if an open transaction has blocked sealing for this long. */
const LATE_MS = 60_000
const POLL_MS = 20
const WAIT_MAX_MS = 30_000

export interface Sealer {
  /** Seals what an earlier turn observed. Returns the number of entries sealed. */
  turn(): Promise<number>
  /** Waits for the block in progress. */
  stop(): Promise<void>
}

export interface SealerOptions {
  readonly sql: Sql
  readonly everyMs?: number
  readonly idsMax?: number
  readonly log: Pick<Log, 'warn'>
}

/** Starts sealing. Any number of processes may run it: each block is written by one of them. */
export function startSealer(options: SealerOptions): Sealer {
  const { sql, log, everyMs = EVERY_MS, idsMax = IDS_MAX } = options
  const waker = createWaker()
  let pending: (Observation & { readonly at: number }) | undefined
  let stopped = false
  let warnedAt = 0

  async function turn(): Promise<number> {
    const seen = await observeWriters(sql)
    const ready = pending
    if (ready && isBlocked(ready, seen)) {
      warnWhenLate(ready.at)
      return 0
    }
    pending = { ...seen, at: performance.now() }
    return ready?.place === seen.place ? await sealUpTo(ready.bound) : 0
  }

  function warnWhenLate(since: number): void {
    const now = performance.now()
    if (now - since < LATE_MS || now - warnedAt < LATE_MS) return
    warnedAt = now
    log.warn(
      { seconds: Math.round((now - since) / 1_000) },
      'an open transaction delays the sealing of entries',
    )
  }

  /** Pauses after each block for as long as it took, to leave capacity for calls. */
  async function sealUpTo(bound: bigint): Promise<number> {
    let sealed = 0
    while (!stopped) {
      const start = performance.now()
      const entries = await sealBlock(sql, bound, idsMax)
      if (!entries) break
      sealed += entries
      if (!stopped) await sleep(performance.now() - start)
    }
    return sealed
  }

  async function run(): Promise<void> {
    while (!stopped) {
      // Jitter separates processes that started together.
      await waker.wait(everyMs * (0.75 + Math.random() / 2))
      if (stopped) return
      await turn().catch((error: unknown) => {
        log.warn({ error }, 'sealing entries failed, will retry')
      })
    }
  }

  const loop = run()
  return {
    turn,
    async stop() {
      stopped = true
      waker.wake()
      await loop
    },
  }
}

function isBlocked(ready: Observation, seen: Observation): boolean {
  const waitsFor = new Set(ready.writers)
  return ready.place === seen.place && seen.writers.some((writer) => waitsFor.has(writer))
}

/**
 * Seals everything committed before the call. Throws OperatorError if a transaction stays open for
 * longer than 30 seconds.
 */
export async function sealEverything(sql: Sql): Promise<void> {
  const ready = await observeWriters(sql)
  const start = performance.now()
  while (isBlocked(ready, await observeWriters(sql))) await waitFor(start)
  for (;;) {
    const entries = await sealBlock(sql, ready.bound, IDS_MAX)
    if (entries === 0) return
    if (entries === null) await waitFor(start)
  }
}

async function waitFor(start: number): Promise<void> {
  if (performance.now() - start > WAIT_MAX_MS) {
    throw new OperatorError(
      'a transaction that writes ledger entries is still open: try again later',
    )
  }
  await sleep(POLL_MS)
}
