/**
 * What must be cleared away now and then: a few chores, one after the other, in small pieces with
 * pauses between them, so that nobody notices. Several processes may do so side by side.
 */
import type { Log } from '../lib/log.ts'
import { createWaker } from '../lib/queues/waker.ts'

export interface Chore {
  readonly name: string
  /** Does one small piece and says how much it did; 0 when nothing is left. */
  run(): Promise<number>
}

export interface Housekeeping {
  /** Waits for the piece under way. */
  stop(): Promise<void>
}

const PAUSE_MS = 20
/** A chore with very much to do lets the others have their turn. */
const PIECES_MAX = 1_000

export function startHousekeeping({
  chores,
  everyMs,
  log,
}: {
  readonly chores: readonly Chore[]
  readonly everyMs: number
  readonly log: Log
}): Housekeeping {
  const waker = createWaker()
  let stopped = false

  async function perform(chore: Chore): Promise<void> {
    let done = 0
    try {
      for (let piece = 0; piece < PIECES_MAX && !stopped; piece += 1) {
        const count = await chore.run()
        if (count === 0) break
        done += count
        if (!stopped) await waker.wait(PAUSE_MS)
      }
    } catch (error) {
      log.warn({ error, job: chore.name }, 'a chore is left for later')
    }
    if (done > 0) log.debug({ job: chore.name, count: done }, 'cleared away')
  }

  async function run(): Promise<void> {
    while (!stopped) {
      // Jitter separates processes that started together.
      await waker.wait(everyMs * (0.75 + Math.random() / 2))
      for (const chore of chores) if (!stopped) await perform(chore)
    }
  }

  const loop = run()
  return {
    async stop() {
      stopped = true
      waker.wake()
      await loop
    },
  }
}
