/** Ends the connections of a server without failing a request that arrives meanwhile. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setImmediate } from 'node:timers/promises'

/** Connections that no longer speak HTTP, which the server does not know. */
export interface Upgraded {
  /** From now on they are closed as soon as they are idle. */
  closeWhenIdle(): void
  terminateAll(): void
}

export interface Drain {
  /** From now on each response asks its caller to close the connection. */
  closeAfterResponses(): void
  /** Accepts no more connections. Open ones are served further, idle ones included. */
  stopListening(): Promise<void>
  /** Resolves once no connection is open, or after `timeoutMs`. */
  unused(timeoutMs: number): Promise<void>
  /** Resolves once no request is being answered, or after `timeoutMs`. */
  idle(timeoutMs: number): Promise<void>
  /** Ends every connection at once. */
  closeAll(): void
}

const POLL_INTERVAL_MS = 20
/** A turn of the event loop that took less than this found next to nothing to do. */
const QUIET_TURN_MS = 0.5
const TURNS_MAX = 1_000

/** Watches the requests of `server`; called before it listens. */
export function watchDrain(server: Server, upgraded?: Upgraded): Drain {
  const active = new Set<ServerResponse>()
  let isClosing = false
  const watch = (_request: IncomingMessage, response: ServerResponse) => {
    active.add(response)
    response.once('close', () => active.delete(response))
    if (isClosing) response.shouldKeepAlive = false
  }
  server.prependListener('request', watch)
  server.prependListener('checkContinue', watch)
  async function wait(timeoutMs: number, isOver: () => boolean): Promise<void> {
    const deadline = performance.now() + timeoutMs
    while (!isOver() && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS))
    }
  }

  return {
    closeAfterResponses() {
      isClosing = true
      for (const response of active) response.shouldKeepAlive = false
      upgraded?.closeWhenIdle()
    },
    async stopListening() {
      // The kernel resets connections that it has accepted and the server has not. Closing right
      // after a turn that found no work leaves no time for any.
      for (let turn = 0; turn < TURNS_MAX; turn += 1) {
        const start = performance.now()
        await setImmediate()
        if (performance.now() - start < QUIET_TURN_MS) break
      }
      // The server's own close() would also close idle connections, on which a proxy may be
      // sending its next request.
      NetServer.prototype.close.call(server)
    },
    unused(timeoutMs) {
      let isClosed = false
      server.once('close', () => {
        isClosed = true
      })
      return wait(timeoutMs, () => isClosed)
    },
    idle: (timeoutMs) => wait(timeoutMs, () => active.size === 0),
    closeAll() {
      server.closeAllConnections()
      upgraded?.terminateAll()
    },
  }
}
