/**
 * Receives notifications of the database (LISTEN), over a connection that is renewed until stopped.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { listenOn, ping } from '../store.ts'
import type { ConnectionEvents } from './open-client.ts'

const RENEW_MS = 250
/** A listener is silent by nature, so it pings the server now and then. */
const POLL_INTERVAL_MS = 5_000
const PATIENCE_MS = 2_000

export interface Listener {
  readonly onMessage: (payload: string) => void
  /**
   * Called whenever listening starts, also after a loss: messages may have been missed, so
   * dependent state must be read again.
   */
  readonly onListening?: (() => void) | undefined
}

export interface Listening {
  readonly unlisten: () => Promise<void>
}

/** Resolves once it listens, or after two seconds if it cannot yet; it keeps trying. */
export async function listenForever(
  open: (events: ConnectionEvents) => Sql,
  channel: string,
  listener: Listener,
): Promise<Listening> {
  const stopping = new AbortController()
  const first = Promise.withResolvers<void>()
  const done = (async () => {
    while (!stopping.signal.aborted) {
      await listenOnce(open, channel, listener, stopping.signal, first.resolve)
      await sleep(RENEW_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  })()
  await Promise.race([first.promise, sleep(PATIENCE_MS, undefined, { ref: false })])
  return {
    async unlisten() {
      stopping.abort()
      await done
    },
  }
}

/** Listens until the connection is lost. Never rejects: the caller retries. */
async function listenOnce(
  open: (events: ConnectionEvents) => Sql,
  channel: string,
  listener: Listener,
  signal: AbortSignal,
  onFirst: () => void,
): Promise<void> {
  const over = Promise.withResolvers<void>()
  const sql = open({
    onclose: () => over.resolve(),
    onnotify: (_channel, payload) => listener.onMessage(payload),
  })
  const stop = () => over.resolve()
  signal.addEventListener('abort', stop)
  const timer = setInterval(
    () => void pingInTime(sql).catch(() => over.resolve()),
    POLL_INTERVAL_MS,
  )
  try {
    await listenOn(sql, channel)
    listener.onListening?.()
    onFirst()
    await over.promise
  } catch {
    // Not reachable yet; the caller retries.
  } finally {
    clearInterval(timer)
    signal.removeEventListener('abort', stop)
    await sql.end({ timeout: 0 })
  }
}

async function pingInTime(sql: Sql): Promise<void> {
  const late = sleep(PATIENCE_MS, undefined, { ref: false }).then(() => {
    throw new Error('no answer in time')
  })
  await Promise.race([ping(sql), late])
}
