/**
 * The listener: Node's own HTTP server with every limit set, because its defaults are made for
 * trusted clients. Decided against a framework in docs/decisions: the data path needs raw bodies
 * and raw streams, and each limit must be ours.
 */
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import { newRequestId } from '../lib/ids.ts'
import { watchArrivals } from './arrivals.ts'
import { watchDepartures } from './departures.ts'

export interface ServerLimits {
  readonly headersTimeoutMs: number
  readonly requestTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  readonly headerBytesMax: number
  readonly headersMax: number
  readonly connectionsMax: number
  /** A caller that takes nothing of its answer for so long, at most twice that, is cut off. */
  readonly clientStallMs: number
}

const CHECK_INTERVAL_MS = 2_000
/** For the last answer to leave before its connection is cut. */
const LAST_WORD_MS = 1_000

/** What a request that Node's parser refuses is answered with, by the parser's error code. */
const PARSER_ANSWERS: Readonly<Record<string, { status: number; message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'request headers are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'the request did not arrive in time' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'chunk extensions are too large' },
}
const MALFORMED = { status: 400, message: 'malformed HTTP request' }

export function createHttpServer(
  limits: ServerLimits,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  const server = createServer(
    {
      headersTimeout: limits.headersTimeoutMs,
      // Watched by ourselves: uploads may take longer.
      requestTimeout: 0,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      maxHeaderSize: limits.headerBytesMax,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      noDelay: true,
      // A request with both Content-Length and Transfer-Encoding is smuggling, not sloppiness.
      insecureHTTPParser: false,
      requireHostHeader: false,
    },
    (request, response) => {
      // Names and values stand in turn in the raw list.
      if (request.rawHeaders.length > limits.headersMax * 2) {
        refuseHeaders(response)
        return
      }
      arrivals.begin(request, response)
      departures.begin(request, response)
      handle(request, response)
    },
  )
  const arrivals = watchArrivals(server, limits, refuseLate)
  const departures = watchDepartures(server, limits.clientStallMs)
  // 0 lets the byte limit rule: Node would otherwise drop headers beyond the count silently.
  server.maxHeadersCount = 0
  server.maxConnections = limits.connectionsMax
  server.on('clientError', answerClientError)
  return server
}

function refuseHeaders(response: ServerResponse): void {
  const body = JSON.stringify({ error: 'too many request headers', type: 'invalid_request_error' })
  const headers = { 'content-type': 'application/json', 'x-request-id': newRequestId() }
  response.writeHead(431, { ...headers, connection: 'close' }).end(body)
}

/** A caller that is still sending may be told why; then it is cut off, whatever it does. */
function refuseLate(socket: Socket, isAnswered: boolean): void {
  if (isAnswered) {
    socket.destroy()
    return
  }
  answerClientError(Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
  setTimeout(() => socket.destroy(), LAST_WORD_MS).unref()
}

/** Answers what never became a request, in the flat error body, and closes. */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, message } = PARSER_ANSWERS[error.code ?? ''] ?? MALFORMED
  const body = JSON.stringify({ error: message, type: 'invalid_request_error' })
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\n` +
      `X-Request-Id: ${newRequestId()}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  )
}
