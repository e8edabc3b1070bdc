/** Ends the connections of a server without failing a request that arrives meanwhile. */
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { Roster } from '../lib/queues/roster.ts'

/** Connections that no longer speak HTTP, which the server does not know. */
export interface Upgraded {
  /** Closes them from now on as soon as they are idle. */
  closeWhenIdle(): void
  terminateAll(): void
}

/** The place from which a server gets its connections. */
export interface Entrance {
  readonly port: number
  /**
   * Accepts no more connections. Open ones are served further, idle ones included, and so are those
   * that were waiting.
   */
  close(): Promise<void>
}

export interface Drain {
  /** From now on each response asks its caller to close the connection. */
  closeAfterResponses(): void
  /** Resolves once no connection is open, or after `timeoutMs`. */
  unused(timeoutMs: number): Promise<void>
  /** Resolves once no request is being answered, or after `timeoutMs`. */
  idle(timeoutMs: number): Promise<void>
  /** Ends every connection at once. */
  closeAll(): void
}

const POLL_INTERVAL_MS = 20
/** Turns of the event loop without a new connection; the first may end before it polls. */
const QUIET_TURNS = 2
const TURNS_MAX = 10_000
/** A turn of the event loop with next to no work. */
const SHORT_TURN_MS = 0.3
/** Time and turns after which a process that is never idle stops waiting for a short turn. */
const SHORT_TURN_WAIT_MS = 1_000
/**
 * A single stall of the machine for that long does not count: the next turn is a short one again.
 */
const LONG_TURNS_MIN = 10

/**
 * Closing a listener resets the connections in the kernel's backlog. The server accepts one of them
 * in each turn of the event loop, so after turns without a new one the backlog is empty. The loop
 * accepts connections before the other work of a turn, during which the kernel may add another one,
 * so the turn before the close must be a short one.
 */
export async function untilBacklogEmpty(server: NetServer): Promise<void> {
  let accepted = 0
  server.on('connection', () => {
    accepted += 1
  })
  const waitsUntilMs = performance.now() + SHORT_TURN_WAIT_MS
  let quiet = 0
  let long = 0
  for (let turns = 0; turns < TURNS_MAX; turns += 1) {
    const before = accepted
    const beganMs = performance.now()
    await setImmediate()
    const endedMs = performance.now()
    quiet = accepted === before ? quiet + 1 : 0
    const isShort = endedMs - beganMs < SHORT_TURN_MS
    if (!isShort) long += 1
    const isNeverIdle = long >= LONG_TURNS_MIN && endedMs > waitsUntilMs
    if (quiet >= QUIET_TURNS && (isShort || isNeverIdle)) return
  }
}

/** Listens. The caller of this function explains an address that cannot be used. */
export async function openEntrance(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Entrance> {
  server.listen(port, host, 4096)
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    async close() {
      await untilBacklogEmpty(server)
      // The server's own close() would also close idle connections, on which a proxy may be
      // sending its next request.
      NetServer.prototype.close.call(server)
    },
  }
}

/** Watches the requests of `server`; called before it listens. */
export function watchDrain(server: Server, upgraded?: Upgraded): Drain {
  const active = new Roster<ServerResponse>()
  let isClosing = false
  /** The newest response of a connection, and whether its request keeps the connection. */
  const newest = new WeakMap<Socket, { response: ServerResponse; isKept: boolean }>()
  const watch = ({ socket }: IncomingMessage, response: ServerResponse) => {
    response.on('close', active.add(response))
    const before = newest.get(socket)
    newest.set(socket, { response, isKept: response.shouldKeepAlive })
    if (!isClosing) return
    // Pipelined requests are in progress: only the last response closes the connection.
    if (before && !before.response.headersSent) before.response.shouldKeepAlive = before.isKept
    response.shouldKeepAlive = false
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
      for (const response of active.list()) {
        if (newest.get(response.req.socket)?.response === response) response.shouldKeepAlive = false
      }
      upgraded?.closeWhenIdle()
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
