/** The only place that writes responses: headers with the request id, JSON and errors. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../lib/errors.ts'
import { type Context, TIMED_PARTS } from './context.ts'
import { corsHeaders } from './cors.ts'
import { type ContentEncoding, encodeDocument, encodingOfDocument } from './encode-content.ts'
import { errorHeaders, renderError } from './envelope.ts'
import { rateHeaders } from './rate-headers.ts'
import { LARGE_BYTES, sendLarge } from './send-large.ts'

const DELAY_MS_MAX = 2_000
const DELAY_BYTES_MAX = 32 * 1024 * 1024
/** A body of at most so many bytes is joined with its head for one write instead of two. */
const JOINED_BYTES_MAX = 16 * 1024

/** Returns the headers of every response. */
export function commonHeaders(context: Context): Record<string, string> {
  const { requestId, clientRequestId, envelope, policy, request, rates } = context
  const headers: Record<string, string> = { 'x-request-id': requestId }
  if (clientRequestId) headers['x-client-request-id'] = clientRequestId
  // The header in which SDKs of the messages dialect look for the request id.
  if (envelope === 'messages') headers['request-id'] = requestId
  headers['x-content-type-options'] = 'nosniff'
  const timing = printTimings(context)
  if (timing) headers['server-timing'] = timing
  if (rates) Object.assign(headers, rateHeaders(rates, envelope, Date.now()))
  if (policy.origins) Object.assign(headers, corsHeaders(policy.origins, request.headers))
  return headers
}

/** Returns the value of `Server-Timing`; empty without measurements. */
function printTimings({ timings }: Context): string {
  let printed = ''
  for (const part of TIMED_PARTS) {
    const timing = timings[part]
    if (timing) printed += `${printed ? ', ' : ''}${part};dur=${timing.tookMs.toFixed(2)}`
  }
  return printed
}

/** Responses whose document is being compressed: they count as begun. */
const encoding = new WeakSet<ServerResponse>()

/** Writes a whole response. Does nothing if the caller has disconnected or a response was begun. */
export function sendBytes(
  context: Context,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
): void {
  const { request, response, policy } = context
  if (response.headersSent || response.destroyed || encoding.has(response)) return
  const coding =
    policy.compresses && request.complete && !('content-encoding' in headers)
      ? encodingOfDocument(acceptedBy(context), headers['content-type'], body.length)
      : undefined
  if (!coding) {
    writeWhole(context, status, headers, body)
    return
  }
  encoding.add(response)
  encodeDocument(coding, body, (encoded, name) => {
    if (response.destroyed) return
    writeWhole(
      context,
      status,
      { ...headers, ...(name ? encodedHeaders(context, name) : {}) },
      encoded,
    )
  })
}

function writeWhole(
  context: Context,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
): void {
  const { request, response } = context
  const all = Object.assign(commonHeaders(context), headers)
  all['content-length'] = String(body.length)
  response.writeHead(status, all)
  const content = request.method === 'HEAD' ? undefined : body
  if (content && content.length > LARGE_BYTES && request.complete) sendLarge(context, content)
  else if (request.complete || request.destroyed) endWith(response, content)
  else endAfterRequest(request, response, content)
}

/**
 * Node joins a head and a body if both are text; Latin-1 has a character for each byte. A response
 * without a socket is no HTTP response, or waits for those before it.
 */
function endWith(response: ServerResponse, content: Buffer | undefined): void {
  if (!content || !response.socket || content.length > JOINED_BYTES_MAX) response.end(content)
  else response.end(content.toString('latin1'), 'latin1')
}

const LINE_END = '\r\n'

/**
 * Writes a piece of a stream, of which `response.write` must write none: Node would send it later.
 * Returns false if the caller reads too slowly, as `write` does. A chunk of a chunked body is one
 * buffer here; Node writes its length, its line ends and its bytes one by one, which costs 1.4
 * times as much.
 */
export function writePiece(response: ServerResponse, bytes: Buffer): boolean {
  // As in endWith.
  if (!response.chunkedEncoding || !response.socket || bytes.length === 0) {
    return response.write(bytes)
  }
  const head = `${bytes.length.toString(16)}${LINE_END}`
  const chunk = Buffer.allocUnsafe(head.length + bytes.length + LINE_END.length)
  chunk.write(head, 'latin1')
  bytes.copy(chunk, head.length)
  chunk.write(LINE_END, head.length + bytes.length, 'latin1')
  // What Node would frame is framed already; the end of the body is Node's again.
  response.chunkedEncoding = false
  try {
    return response.write(chunk)
  } finally {
    response.chunkedEncoding = true
  }
}

function acceptedBy({ request }: Context): string | undefined {
  return request.headers['accept-encoding']?.toString()
}

function encodedHeaders(
  { policy: { origins } }: Context,
  name: ContentEncoding,
): Record<string, string> {
  const hasOrigins = origins !== undefined && origins !== '*'
  return { 'content-encoding': name, vary: `${hasOrigins ? 'origin, ' : ''}accept-encoding` }
}

/** Writes a response without a body. */
export function sendEmpty(context: Context, headers: Readonly<Record<string, string>>): void {
  context.response.writeHead(204, { ...commonHeaders(context), ...headers }).end()
}

export function sendJson(
  context: Context,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendBytes(
    context,
    status,
    { 'content-type': 'application/json', ...headers },
    Buffer.from(JSON.stringify(value)),
  )
}

/**
 * Sends any thrown value as an error; anything but a GatewayError becomes a 500 without its cause.
 */
export function sendError(context: Context, thrown: unknown): GatewayError {
  const error =
    thrown instanceof GatewayError ? thrown : new GatewayError('internal', { cause: thrown })
  context.facts.outcome ??= error.outcome
  const body = renderError(error, context.envelope, context.request.headers, context.requestId)
  const headers = errorHeaders(error)
  if (mayStillSend(context)) headers.connection = 'close'
  sendJson(context, error.status, body, headers)
  return error
}

/** A request without a body is also incomplete if it is refused right after its head. */
function mayStillSend({ request }: Context): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  return !request.complete && (encoding !== undefined || Number(length) > 0)
}

/**
 * Delays closing after an early refusal: closing while the request still arrives would reset the
 * connection, and the reset can overtake the response. The rest of the request is read for a while.
 * Writes a response, and ends it once its request has arrived or the limits are reached.
 */
function endAfterRequest(
  request: IncomingMessage,
  response: ServerResponse,
  content: Buffer | undefined,
): void {
  if (content) response.write(content)
  let bytes = 0
  const end = () => {
    clearTimeout(timer)
    request.off('data', count).off('end', end).off('close', end)
    response.end()
  }
  const count = (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > DELAY_BYTES_MAX) end()
  }
  const timer = setTimeout(end, DELAY_MS_MAX)
  request.on('data', count).on('end', end).on('close', end)
}
