/**
 * Limits slow uploads: a request must arrive whole within a time limit, or at a minimum rate if the
 * caller uploads something large. Node's own limit cannot distinguish the two; Node enforces only
 * the limit for the request head.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Roster } from '../../lib/queues/roster.ts'

export interface UploadLimits {
  /** Time limit for a whole request, and the span over which the upload rate is measured. */
  readonly requestTimeoutMs: number
}

export interface UploadGuard {
  /** Called for every request once its head has arrived. */
  begin(request: IncomingMessage, response: ServerResponse): void
}

/** The minimum rate of an upload, averaged over each span. */
const UPLOAD_BYTES_PER_SECOND = 16 * 1024
const CHECK_MS_MAX = 2_000

const uploads = new WeakSet<IncomingMessage>()

/** Marks a request as an upload: it may take any time while it keeps the minimum rate. */
export function expectUpload(request: IncomingMessage): void {
  uploads.add(request)
}

/** The latest request of a connection; its measured span began at `sinceMs`. */
interface Connection {
  readonly socket: Socket
  request: IncomingMessage | undefined
  response: ServerResponse | undefined
  sinceMs: number
  bytes: number
}

/** `late` receives the connection to end, and whether a response was begun on it. */
export function watchSlowUploads(
  server: Server,
  { requestTimeoutMs }: UploadLimits,
  onLate: (socket: Socket, isAnswered: boolean) => void,
): UploadGuard {
  const connections = new Roster<Connection>()
  const bySocket = new WeakMap<Socket, Connection>()
  const bytesMin = (UPLOAD_BYTES_PER_SECOND * requestTimeoutMs) / 1000

  function isLate(connection: Connection, request: IncomingMessage): boolean {
    const { socket } = connection
    if (performance.now() - connection.sinceMs < requestTimeoutMs) return false
    if (!uploads.has(request) || socket.bytesRead - connection.bytes < bytesMin) return true
    connection.sinceMs = performance.now()
    connection.bytes = socket.bytesRead
    return false
  }

  function check(): void {
    for (const connection of connections.list()) {
      const { socket, request, response } = connection
      if (!request) continue
      if (!request.complete && !request.destroyed && !isLate(connection, request)) continue
      connection.request = undefined
      connection.response = undefined
      if (!request.complete && !request.destroyed) onLate(socket, response?.headersSent ?? false)
    }
  }

  server.on('connection', (socket: Socket) => {
    const connection = { socket, request: undefined, response: undefined, sinceMs: 0, bytes: 0 }
    bySocket.set(socket, connection)
    socket.once('close', connections.add(connection))
  })
  const timer = setInterval(check, Math.min(CHECK_MS_MAX, requestTimeoutMs / 2))
  server.on('close', () => clearInterval(timer))
  timer.unref()

  return {
    begin(request, response) {
      const { headers, socket } = request
      if (!headers['content-length'] && !headers['transfer-encoding']) return
      const connection = bySocket.get(socket)
      if (!connection) return
      connection.request = request
      connection.response = response
      connection.sinceMs = performance.now()
      connection.bytes = socket.bytesRead
    },
  }
}
