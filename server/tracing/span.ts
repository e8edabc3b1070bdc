/**
 * A request as spans: one for the whole, one for each of its timed parts. Source of the shape:
 * OpenTelemetry's protocol, JSON encoding (opentelemetry/proto/trace/v1), and W3C Trace Context
 * for the parent. Attributes hold only what the access log may: nothing that a caller wrote.
 */
import { randomBytes } from 'node:crypto'
import type { Context } from '../http/context.ts'

/** Ids in hexadecimal, times in nanoseconds since 1970 as decimal strings. */
export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly Attribute[]
  /** 2 is an error; absent otherwise. */
  readonly status?: { readonly code: 2 }
}

export interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue: string } | { readonly intValue: string }
}

const INTERNAL = 1
const SERVER = 2
const CLIENT = 3

export interface TraceParent {
  readonly traceId: string
  readonly spanId: string
  readonly sampled: boolean
}

/** Version 00 and later ones that begin alike; undefined for anything else. */
export function parseTraceParent(header: unknown): TraceParent | undefined {
  if (typeof header !== 'string') return undefined
  const found = /^(?!ff)[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-|$)/.exec(header)
  const [, traceId = '', spanId = '', flags = ''] = found ?? []
  if (!found || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** The spans of an answer that is through; none when the caller's own trace is not sampled. */
export function toSpans(context: Context): readonly Span[] {
  const { request, route, response, timings, startedAt } = context
  const parent = parseTraceParent(request.headers.traceparent)
  if (parent && !parent.sampled) return []
  const traceId = parent?.traceId ?? randomBytes(16).toString('hex')
  const spanId = randomBytes(8).toString('hex')
  const whole: Span = {
    traceId,
    spanId,
    kind: SERVER,
    name: `${request.method} ${route}`,
    ...(parent ? { parentSpanId: parent.spanId } : {}),
    ...between(startedAt, performance.now()),
    attributes: describe(context),
    ...(response.statusCode >= 500 ? { status: { code: 2 } } : {}),
  }
  const parts = Object.entries(timings).map(([name, { startedAt: start, tookMs }]): Span => {
    const kind = name === 'upstream' ? CLIENT : INTERNAL
    const ids = { traceId, spanId: randomBytes(8).toString('hex'), parentSpanId: spanId }
    return { ...ids, kind, name, ...between(start, start + tookMs), attributes: [] }
  })
  return [whole, ...parts]
}

function describe({ requestId, request, route, response, facts }: Context): Attribute[] {
  const texts = {
    'http.request.method': request.method,
    'http.route': route,
    'gen_ai.request.model': facts.model?.slice(0, 100),
    'tributary.request_id': requestId,
    'tributary.outcome': facts.outcome ?? 'ok',
    'tributary.account_id': facts.accountId,
    'tributary.key_id': facts.keyId,
    'tributary.channel': facts.channel,
  }
  const counts = {
    'http.response.status_code': response.statusCode,
    'tributary.attempts': facts.attempts,
    'tributary.charged_nanos': facts.chargedNanos,
  }
  return [
    ...Object.entries(texts).flatMap(([key, text]) =>
      text === undefined ? [] : [{ key, value: { stringValue: text } }],
    ),
    ...Object.entries(counts).flatMap(([key, count]) =>
      count === undefined ? [] : [{ key, value: { intValue: count.toString() } }],
    ),
  ]
}

/** From times of the monotonic clock, in milliseconds. */
function between(start: number, end: number) {
  return { startTimeUnixNano: toUnixNanos(start), endTimeUnixNano: toUnixNanos(end) }
}

function toUnixNanos(monotonicMs: number): string {
  const unixMs = performance.timeOrigin + monotonicMs
  return (BigInt(Math.round(unixMs * 1000)) * 1000n).toString()
}
