/**
 * WebSockets of callers. A request for one runs through the listener like any other, so that it is
 * authenticated, refused and logged in the same way; its endpoint may then take the connection.
 */
import type { Socket } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import { accountOf, type Context } from '../../base/http/context.ts'
import type { Upgraded } from '../../base/http/drain.ts'
import {
  type IncomingMessage,
  type Server,
  ServerResponse,
} from '../../base/lib/process/node-http.ts'

/** The part of an open WebSocket's owner that a shutdown needs to end it. */
export interface SocketUser {
  /** Closes the connection once no response is running on it. */
  closeWhenIdle(): void
}

export interface Sockets extends Upgraded {
  /** Serves the upgrade requests of a server. */
  serve(server: Server): void
  /**
   * Takes over the connection of a request that asks for a WebSocket, with messages of at most
   * `bytesMax`. Returns false for any other request. A wrong handshake is refused with a 400.
   * Throws 429 or 503 if the account, or all accounts together, have too many.
   */
  accept(context: Context, bytesMax: number, open: OpenSocket): boolean
  /** Handles a request as if it had arrived at the server. */
  handle(request: IncomingMessage, response: ServerResponse): void
}

/** Uses a WebSocket; it is read from `connection`. */
export type OpenSocket = (socket: WebSocket, connection: Socket) => SocketUser

interface Upgrade {
  readonly socket: Socket
  readonly head: Buffer
}

const SWITCHING_PROTOCOLS = 101
const HANDSHAKE = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  // Thousands of small messages may arrive in one chunk: other callers are served between them.
  allowSynchronousEvents: false,
}
const TOO_MANY = 'this account has too many WebSockets open here: close some, or use those'

export function createSockets(): Sockets {
  const upgrades = new WeakMap<IncomingMessage, Upgrade>()
  const users = new Map<WebSocket, SocketUser>()
  let isClosing = false
  let served: Server | undefined

  function use(socket: WebSocket, user: SocketUser): void {
    users.set(socket, user)
    socket.once('close', () => users.delete(socket))
    if (isClosing) user.closeWhenIdle()
  }

  return {
    serve(server) {
      served = server
      server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
        upgrades.set(request, { socket, head })
        socket.on('error', () => socket.destroy())
        server.emit('request', request, respondOn(socket, request))
      })
    },
    accept(context, bytesMax, open) {
      const { request, response, memory } = context
      const upgrade = upgrades.get(request)
      if (!upgrade || response.destroyed) return false
      const portion = memory.sockets.portion(accountOf(context), 'socket')
      if (!portion.grow(1)) throw portion.refuse(1, TOO_MANY)
      upgrades.delete(request)
      const { socket, head } = upgrade
      if (socket.destroyed) portion.release()
      else socket.once('close', () => portion.release())
      response.detachSocket(socket)
      response.statusCode = SWITCHING_PROTOCOLS
      const handshake = new WebSocketServer({ ...HANDSHAKE, maxPayload: bytesMax })
      handshake.handleUpgrade(request, socket, head, (opened) => {
        use(opened, open(opened, socket))
      })
      response.emit('close')
      return true
    },
    handle(request, response) {
      served?.emit('request', request, response)
    },
    closeWhenIdle() {
      isClosing = true
      for (const user of users.values()) user.closeWhenIdle()
    },
    terminateAll() {
      for (const socket of users.keys()) socket.terminate()
    },
  }
}

/** Returns a response on the socket of an upgrade request; the connection ends with it. */
function respondOn(socket: Socket, request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => {
    response.detachSocket(socket)
    socket.destroySoon()
    response.emit('close')
  })
  return response
}
