/**
 * The only connection to upstreams. A wire works only with an open hold, so a paid call without a
 * hold cannot be sent. The HTTP client is also used in `server/base/outbound/`, for addresses that
 * callers name and for traces; it has no access to channels.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Dispatcher, errors } from 'undici'
import { type Hold, isOpenHold } from '../../../money/ledger/holds/hold.ts'
import { readErrorBody, UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import type { Wire, WireRequest, WireResponse } from '../../../wire/upstreams/wire.ts'
import type { Stopping } from '../load/stopping.ts'
import { decodeBody } from './decode-body.ts'
import { type ExchangeOptions, ExchangeTimeout, exchange } from './exchange.ts'
import { openSocket } from './wire-socket.ts'

export interface WireOptions extends ExchangeOptions {
  readonly dispatcher: Dispatcher
  /** Limits the handshake of a WebSocket; the dispatcher limits its own connections. */
  readonly connectTimeoutMs: number
  /** Maximum number of WebSockets to one host. */
  readonly socketsMax: number
  /** Ends all waits when the gateway stops. */
  readonly stopping?: Stopping
  readonly trace?: WireTrace | undefined
}

/** Carries the caller's trace to the vendor, and the vendor's address back. */
export interface WireTrace {
  /** The header to send; undefined sends none. */
  readonly traceparent: string | undefined
  readonly onSend: (address: string) => void
}

/** Adds the header of the trace to a request. */
function traced<R extends Pick<WireRequest, 'url' | 'headers'>>(
  request: R,
  trace: WireTrace | undefined,
): R {
  if (!trace) return request
  trace.onSend(request.url)
  const { traceparent } = trace
  return traceparent ? { ...request, headers: { ...request.headers, traceparent } } : request
}

/** Opens a wire for one hold. Each use rejects unless the ledger took the hold and it is open. */
export function openWire(hold: Hold, options: WireOptions): Wire {
  const openedAt = performance.now()
  const guard = () => {
    if (!isOpenHold(hold)) throw new Error('a wire was used without an open hold')
  }
  return {
    send(request) {
      try {
        guard()
      } catch (error) {
        return Promise.reject(error)
      }
      return send(traced(request, options.trace), options)
    },
    async openSocket(request) {
      guard()
      refuseLate(options)
      return openSocket(traced(request, options.trace), options, guard)
    },
    async wait(forMs) {
      guard()
      refuseLate(options)
      await pause(forMs, options.stopping)
      return performance.now() - openedAt
    },
    now: Date.now,
  }
}

/** Opens a wire without a hold for free reads: GETs, and requests for credentials. */
export function openReadingWire(options: WireOptions): Wire {
  const refuse = () => Promise.reject(new Error('this wire only reads'))
  return {
    send: (request) =>
      request.method === 'GET' || request.forCredential ? send(request, options) : refuse(),
    openSocket: refuse,
    wait: refuse,
    now: Date.now,
  }
}

async function pause(forMs: number, stopping: Stopping | undefined): Promise<void> {
  try {
    await sleep(forMs, undefined, stopping ? { signal: stopping.signal() } : {})
  } catch (cause) {
    throw new UpstreamFailure('unknown', { cause, message: 'the gateway stops' })
  }
}

/** Sends a request. Throws `channel_fault` for a redirect: the channel's address is wrong. */
async function send(request: WireRequest, options: WireOptions): Promise<WireResponse> {
  refuseLate(options)
  let response: WireResponse
  try {
    response = await exchange(options.dispatcher, request, options)
  } catch (cause) {
    throw classifySendError(cause)
  }
  const { status } = response
  if (status < 300 || status >= 400) return decodeBody(response)
  await readErrorBody(response)
  throw new UpstreamFailure('channel_fault', { status, message: 'the vendor answered a redirect' })
}

/** Throws once the time of the wire is over: what was sent before may have been carried out. */
function refuseLate({ deadline }: WireOptions): void {
  if (deadline.isOver()) throw new UpstreamFailure('unknown', { message: TOO_LATE })
}

const TOO_LATE = 'no answer in time'

/** Codes of errors that occur before the vendor can have read a byte of the request. */
const NOT_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])

function classifySendError(cause: unknown): UpstreamFailure {
  const code = readCode(cause)
  const sent = !NOT_SENT.has(code) && !isOfConnecting(cause)
  const isLate = cause instanceof errors.HeadersTimeoutError || cause instanceof ExchangeTimeout
  const message = isLate ? TOO_LATE : `connection: ${code}`
  return new UpstreamFailure(sent ? 'unknown' : 'not_sent', { cause, message })
}

/** Returns true if a name was not found or no connection was made, for whatever reason. */
function isOfConnecting(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isOfConnecting)
  if (!(error instanceof Error && 'syscall' in error)) return false
  return error.syscall === 'connect' || error.syscall === 'getaddrinfo'
}

function readCode(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return readCode(error.errors[0])
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code
  return error instanceof Error ? error.name : 'unknown'
}
