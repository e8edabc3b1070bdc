/** Waits for a database that exists but does not accept connections yet. */
import { setTimeout as sleep } from 'node:timers/promises'
import { readErrorCode } from './unavailable.ts'

/** PostgreSQL is starting, recovering or stopping, has no free connections, or does not respond. */
const NOT_YET = new Set(['57P03', '53300', 'CONNECT_TIMEOUT'])
const PATIENCE_MS = 30_000
const PAUSE_MS = 250
const REPORT_AFTER_MS = 2_000
const MESSAGE = 'waiting for the database, which has not answered yet'

/**
 * Runs `ask` until the server responds, for up to 30 s, and reports that it is waiting. Rejects at
 * once with errors that waiting does not fix, such as an unreachable server or a wrong password.
 */
export async function waitForServer(
  ask: () => Promise<void>,
  onProgress: (message: string) => void,
): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  const timer = setTimeout(onProgress, REPORT_AFTER_MS, MESSAGE)
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
