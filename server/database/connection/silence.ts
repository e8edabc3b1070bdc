/**
 * Detects a server that stops responding without closing its connections, such as a paused process
 * or a pulled cable. Statements would wait forever; the pool that uses this drops them.
 */
import type { Sql } from 'postgres'
import { ping } from '../store.ts'

const POLL_INTERVAL_MS = 500
/** Counted in slices, because a busy event loop of our own must not look like a silent server. */
const PATIENCE_SLICES = 4
const SLICE_MS = 250

export interface SilenceWatch {
  /** Marks the pool as in use: an idle one is not checked. */
  readonly touch: () => void
  readonly stop: () => Promise<void>
}

/**
 * Pings over a connection of its own, opened by `open`; calls `onSilence` for each missing
 * response.
 */
export function watchSilence(open: () => Sql, onSilence: () => void): SilenceWatch {
  let used = false
  let pinging = false
  let sentinel: Sql | undefined

  async function check(): Promise<void> {
    if (!used || pinging) return
    used = false
    pinging = true
    sentinel ??= open()
    const pinged = sentinel
    const verdict = await Promise.race([
      ping(pinged).then(
        () => 'answered' as const,
        () => 'refused' as const,
      ),
      runOut(),
    ])
    pinging = false
    if (verdict === 'answered') return
    if (sentinel === pinged) sentinel = undefined
    void pinged.end({ timeout: 0 })
    if (verdict === 'silent') onSilence()
  }

  const timer = setInterval(() => void check(), POLL_INTERVAL_MS)
  timer.unref()
  return {
    touch: () => {
      used = true
    },
    async stop() {
      clearInterval(timer)
      await sentinel?.end({ timeout: 0 })
    },
  }
}

async function runOut(): Promise<'silent'> {
  for (let slice = 0; slice < PATIENCE_SLICES; slice += 1) {
    await new Promise((resolve) => setTimeout(resolve, SLICE_MS).unref())
  }
  return 'silent'
}
