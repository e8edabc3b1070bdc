/** Restarts an embedded server that dies while the gateway runs. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { EmbeddedServer } from './embedded.ts'

const POLL_INTERVAL_MS = 250
const BACK_OFF_MS_MAX = 10_000

export type OnTrouble = (error: unknown, message: string) => void

/** Returns a function that ends the watch; it resolves when no start is in progress. */
export function watchServer(
  server: Pick<EmbeddedServer, 'revive'>,
  onTrouble: OnTrouble,
): () => Promise<void> {
  const stopping = new AbortController()
  const watching = (async () => {
    let pauseMs = POLL_INTERVAL_MS
    while (!stopping.signal.aborted) {
      await sleep(pauseMs, undefined, { signal: stopping.signal, ref: false }).catch(
        () => undefined,
      )
      if (stopping.signal.aborted) return
      try {
        if (await server.revive()) onTrouble(undefined, 'the embedded PostgreSQL was started again')
        pauseMs = POLL_INTERVAL_MS
      } catch (error) {
        // Possibly a full disk: a later start succeeds once there is space.
        onTrouble(error, 'the embedded PostgreSQL could not be restarted')
        pauseMs = Math.min(pauseMs * 2, BACK_OFF_MS_MAX)
      }
    }
  })()
  return async () => {
    stopping.abort()
    await watching
  }
}
