/**
 * Limits slow uploads: a request must arrive whole within a time limit, or at a minimum rate if the
 * caller uploads something large. Node's own limit cannot distinguish the two; Node enforces only
 * the limit for the request head.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

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
  const connections = new Map<Socket, Connection>()
  const bytesMin = (UPLOAD_BYTES_PER_SECOND * requestTimeoutMs) / 1000

  function isLate(socket: Socket, connection: Connection, request: IncomingMessage): boolean {
    if (performance.now() - connection.sinceMs < requestTimeoutMs) return false
    if (!uploads.has(request) || socket.bytesRead - connection.bytes < bytesMin) return true
    connection.sinceMs = performance.now()
    connection.bytes = socket.bytesRead
    return false
  }

  function check(): void {
    for (const [socket, connection] of connections) {
      const { request, response } = connection
      if (!request) continue
      if (!request.complete && !request.destroyed && !isLate(socket, connection, request)) continue
      connection.request = undefined
      connection.response = undefined
      if (!request.complete && !request.destroyed) onLate(socket, response?.headersSent ?? false)
    }
  }

  server.on('connection', (socket: Socket) => {
    connections.set(socket, { request: undefined, response: undefined, sinceMs: 0, bytes: 0 })
    socket.once('close', () => connections.delete(socket))
  })
  const timer = setInterval(check, Math.min(CHECK_MS_MAX, requestTimeoutMs / 2))
  server.on('close', () => clearInterval(timer))
  timer.unref()

  return {
    begin(request, response) {
      const { headers, socket } = request
      if (!headers['content-length'] && !headers['transfer-encoding']) return
      const connection = connections.get(socket)
      if (!connection) return
      connection.request = request
      connection.response = response
      connection.sinceMs = performance.now()
      connection.bytes = socket.bytesRead
    },
  }
}
