/**
 * Node's HTTP server with every limit set, since its defaults assume trusted clients.
 * docs/decisions explains the choice against a framework: the data path needs raw bodies and
 * streams, with its own limits.
 */
import type { Socket } from 'node:net'
import { newRequestId } from '../lib/ids.ts'
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from '../lib/process/node-http.ts'
import { oneByOne } from './connections/one-by-one.ts'
import { watchSlowReaders } from './connections/slow-readers.ts'
import { watchSlowUploads } from './connections/slow-uploads.ts'
import { watchUnused } from './connections/unused.ts'
import { delayContinue } from './expect-continue.ts'

export interface ServerLimits {
  readonly headersTimeoutMs: number
  readonly requestTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  readonly headerBytesMax: number
  readonly headersMax: number
  readonly connectionsMax: number
  /** A caller that reads nothing for this long, or at most twice as long, is disconnected. */
  readonly clientStallMs: number
}

const CHECK_INTERVAL_MS = 2_000
/** Time for the last response to leave before the connection is destroyed. */
const LAST_RESPONSE_MS = 1_000

/** Responses to requests that Node's parser rejects, by its error code. */
const PARSER_RESPONSES: Readonly<Record<string, { status: number; message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'request headers are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'the request did not arrive in time' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'chunk extensions are too large' },
}
const MALFORMED = { status: 400, message: 'malformed HTTP request' }

export function createHttpServer(
  limits: ServerLimits,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  const server = createServer({
    headersTimeout: limits.headersTimeoutMs,
    // Enforced by slow-uploads.ts instead: uploads may take longer.
    requestTimeout: 0,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    maxHeaderSize: limits.headerBytesMax,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    noDelay: true,
    shouldUpgradeCallback: wantsSocket,
    // Requests with both Content-Length and Transfer-Encoding are treated as smuggling and
    // rejected.
    insecureHTTPParser: false,
    requireHostHeader: false,
  })
  const begin = oneByOne((request, response) => {
    // The raw list alternates names and values.
    if (request.rawHeaders.length > limits.headersMax * 2) {
      refuseHeaders(response, 431, 'too many request headers')
      return
    }
    slowUploads.begin(request, response)
    slowReaders.begin(request, response)
    unused.begin(request, response)
    handle(request, response)
  })
  server.on('request', begin)
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    delayContinue(request, response)
    begin(request, response)
  })
  server.on('checkExpectation', (_: IncomingMessage, response: ServerResponse) => {
    refuseHeaders(response, 417, 'the only expectation that is met is 100-continue')
  })
  const slowUploads = watchSlowUploads(server, limits, refuseSlowUpload)
  const slowReaders = watchSlowReaders(server, limits.clientStallMs)
  const unused = watchUnused(server, limits.connectionsMax)
  // 0 leaves the byte limit in force: Node would otherwise silently drop headers beyond the count.
  server.maxHeadersCount = 0
  server.maxConnections = limits.connectionsMax
  server.on('clientError', answerClientError)
  return server
}

/**
 * Other upgrades, such as HTTP/2 in clear text, are declined, and the request is served without
 * one. The same applies to an upgrade request that has a body, or that was sent before an earlier
 * request was answered: its connection is still needed for that.
 */
function wantsSocket({ method, headers, socket }: IncomingMessage): boolean {
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') return false
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers
  return encoding === undefined && Number(length) === 0 && !isInUse(socket)
}

/** Node's internal reference to the response that is being sent, which its types lack. */
function isInUse(socket: Socket & { readonly _httpMessage?: unknown }): boolean {
  return Boolean(socket._httpMessage)
}

function refuseHeaders(response: ServerResponse, status: 417 | 431, message: string): void {
  const body = JSON.stringify({ error: message, type: 'invalid_request_error' })
  const headers = { 'content-type': 'application/json', 'x-request-id': newRequestId() }
  const close = status === 431 ? { connection: 'close' } : {}
  response.writeHead(status, { ...headers, ...close }).end(body)
}

/** Sends a timeout response unless one was begun, then closes the connection in any case. */
function refuseSlowUpload(socket: Socket, isAnswered: boolean): void {
  if (isAnswered) {
    socket.destroy()
    return
  }
  answerClientError(Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
}

/**
 * Responds to input that never became a request, with the flat error body, and closes: soon also if
 * the caller does not.
 */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, message } = PARSER_RESPONSES[error.code ?? ''] ?? MALFORMED
  const body = JSON.stringify({ error: message, type: 'invalid_request_error' })
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\n` +
      `X-Request-Id: ${newRequestId()}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  )
  setTimeout(() => socket.destroy(), LAST_RESPONSE_MS).unref()
}
