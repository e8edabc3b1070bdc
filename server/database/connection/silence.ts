/**
 * Detects a server that stops responding without closing its connections, such as a paused process
 * or a pulled cable. Statements would wait forever; the pool that uses this drops them.
 */
import type { Sql } from 'postgres'
import { ping } from '../store.ts'
import { readErrorCode } from '../unavailable.ts'

const POLL_INTERVAL_MS = 500
/** Counted in slices, because a busy event loop of our own must not look like a silent server. */
const SLICE_MS = 250
const PATIENCE_SLICES = 6
/** For the first ping of a connection: a busy server answers others while it admits nobody. */
const OPENING_SLICES = 12

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
  let isOpened = false

  async function check(): Promise<void> {
    if (!used || pinging) return
    used = false
    pinging = true
    sentinel ??= open()
    const pinged = sentinel
    const verdict = await Promise.race([
      ping(pinged).then(() => 'answered' as const, judge),
      runOut(isOpened ? PATIENCE_SLICES : OPENING_SLICES),
    ])
    pinging = false
    isOpened = verdict === 'answered'
    if (isOpened) return
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

/** A server that let the whole time for connecting pass is silent, one that refused is not. */
function judge(error: unknown): 'silent' | 'refused' {
  return readErrorCode(error) === 'CONNECT_TIMEOUT' ? 'silent' : 'refused'
}

async function runOut(slices: number): Promise<'silent'> {
  for (let slice = 0; slice < slices; slice += 1) {
    await new Promise((resolve) => setTimeout(resolve, SLICE_MS).unref())
  }
  return 'silent'
}
