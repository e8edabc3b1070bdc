/**
 * Seals committed entries in blocks, beside the gateway's work. An entry with a lower id may commit
 * after one with a higher id, so a bound is observed first, together with the transactions that
 * are writing; once these have ended, nothing can appear below the bound and it is sealed.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import type { Log } from '../../lib/log.ts'
import { OperatorError } from '../../lib/operator-error.ts'
import { createWaker } from '../../lib/queues/waker.ts'
import { type Observation, observeWriters, sealBlock } from './seal-store.ts'

/** Ids in a block at most: it keeps 16 bytes for each, and takes some 30 ms to make. */
const IDS_MAX = 10_000
const EVERY_MS = 1_000
/** While a transaction stays open for this long, nothing is sealed, and that is worth a warning. */
const LATE_MS = 60_000
const POLL_MS = 20
const WAIT_MAX_MS = 30_000

export interface Sealer {
  /** Takes one turn now: seals what an earlier turn observed. Returns the entries sealed. */
  turn(): Promise<number>
  /** Waits for the block under way. */
  stop(): Promise<void>
}

export interface SealerOptions {
  readonly sql: Sql
  readonly everyMs?: number
  readonly idsMax?: number
  readonly log: Pick<Log, 'warn'>
}

/** Any number of processes may seal side by side: each block is written by one of them. */
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
    log.warn({ seconds: Math.round((now - since) / 1_000) }, 'a transaction keeps entries unsealed')
  }

  /** Rests after each block for as long as it took, so that catching up leaves room for calls. */
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
      // Processes that were started together drift apart.
      await waker.wait(everyMs * (0.75 + Math.random() / 2))
      if (stopped) return
      await turn().catch((error: unknown) => {
        log.warn({ error }, 'sealing entries failed, will be repeated')
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
 * Seals everything that was committed before the call. Throws OperatorError when a transaction
 * stays open for longer than 30 seconds.
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
    throw new OperatorError('a transaction that writes entries does not end: try again later')
  }
  await sleep(POLL_MS)
}
