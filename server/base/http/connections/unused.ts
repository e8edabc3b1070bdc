/**
 * Limits connections without a request: whoever opens many and sends nothing, or half a head, would
 * otherwise keep everybody else out until time limits end those connections. Callers behind one
 * proxy share its address, so there is no limit per address: the oldest connections make room.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Roster } from '../../lib/queues/roster.ts'

export interface UnusedGuard {
  /** Called for every request once its head has arrived. */
  begin(request: IncomingMessage & { readonly upgrade?: boolean }, response: ServerResponse): void
}

/** The share of all connections that may wait for their first request. */
const SILENT_SHARE = 1 / 4
/** Beyond this share of all connections, those whose last request has been answered make room. */
const FULL_SHARE = 15 / 16
/**
 * The share of all connections that are closed at once, so that their search costs little.
 */
const CLOSED_SHARE = 1 / 64

interface Connection {
  readonly socket: Socket
  /** Removes it from the roster. */
  leave: () => void
  /** The number of unanswered requests. */
  running: number
  isSilent: boolean
  /** performance.now() when it was opened, or when its last response ended. */
  unusedAt: number
}

export function watchUnused(server: Server, connectionsMax: number): UnusedGuard {
  const connections = new Roster<Connection>()
  const bySocket = new WeakMap<Socket, Connection>()
  let silent = 0

  function forget(connection: Connection): void {
    if (bySocket.delete(connection.socket)) connection.leave()
    if (connection.isSilent) silent -= 1
    connection.isSilent = false
  }

  /** Closes the oldest connections that no request is using. */
  function makeRoom(isClosable: (connection: Connection) => boolean): void {
    const unused = connections.list().filter((one) => one.running === 0 && isClosable(one))
    unused.sort((one, other) => one.unusedAt - other.unusedAt)
    for (const connection of unused.slice(0, Math.ceil(connectionsMax * CLOSED_SHARE))) {
      forget(connection)
      connection.socket.destroy()
    }
  }

  server.on('connection', (socket: Socket) => {
    if (silent >= connectionsMax * SILENT_SHARE) makeRoom(({ isSilent }) => isSilent)
    if (connections.size >= connectionsMax * FULL_SHARE) makeRoom(() => true)
    const since = { unusedAt: performance.now() }
    const connection = { ...since, socket, running: 0, isSilent: true, leave: ignore }
    connection.leave = connections.add(connection)
    bySocket.set(socket, connection)
    silent += 1
    socket.once('close', () => forget(connection))
  })

  function end(this: ServerResponse): void {
    const connection = bySocket.get(this.req.socket)
    if (!connection) return
    connection.running -= 1
    connection.unusedAt = performance.now()
  }

  return {
    begin({ socket, upgrade }, response) {
      const connection = bySocket.get(socket)
      if (!connection) return
      // It no longer speaks HTTP; WebSockets have their own limits.
      if (upgrade) {
        forget(connection)
        return
      }
      if (connection.isSilent) silent -= 1
      connection.isSilent = false
      connection.running += 1
      response.on('close', end)
    },
  }
}

function ignore(): void {}
