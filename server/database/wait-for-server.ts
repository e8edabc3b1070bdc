/** What commands do when the database is there and does not let anybody in yet. */
import { setTimeout as sleep } from 'node:timers/promises'
import { readErrorCode } from './unavailable.ts'

/** PostgreSQL starts, recovers or stops; all of its connections are taken; it does not answer. */
const NOT_YET = new Set(['57P03', '53300', 'CONNECT_TIMEOUT'])
const PATIENCE_MS = 30_000
const PAUSE_MS = 250
const TELL_AFTER_MS = 2_000
const MESSAGE = 'waiting for the database: it is there, but does not answer yet'

/**
 * Runs `ask` until the server answers it, for up to 30 s, and says that it waits. Rejects at once
 * with anything that waiting does not mend: a server that is not there, a wrong password.
 */
export async function waitForServer(
  ask: () => Promise<void>,
  onProgress: (message: string) => void,
): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  const timer = setTimeout(onProgress, TELL_AFTER_MS, MESSAGE)
  try {
    for (;;) {
      try {
        return await ask()
      } catch (error) {
        if (performance.now() > deadline || !NOT_YET.has(readErrorCode(error))) throw error
      }
      await sleep(PAUSE_MS)
    }
  } finally {
    clearTimeout(timer)
  }
}
