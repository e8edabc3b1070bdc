/**
 * A request as spans: one for the whole, one for each of its timed parts, one for each attempt at
 * an upstream. Sources: OpenTelemetry's protocol, JSON encoding (opentelemetry/proto/trace/v1),
 * and its conventions for generative AI. Attributes hold only what the access log may: nothing that
 * a caller wrote.
 */
import { type AttemptFacts, CALLER_LEFT, type Context, endOf } from '../http/context.ts'
import { newSpanId } from '../http/trace-context.ts'
import { type Attribute, describeAttempt, describeModelCall, toAttributes } from './gen-ai.ts'

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

const INTERNAL = 1
const SERVER = 2
const CLIENT = 3

/** Returns the spans of a request that is over; none if its trace is not sampled. */
export function toSpans(context: Context): readonly Span[] {
  const { request, route, timings, startedAt, trace, facts } = context
  const { at: endedAt, status } = context.end ?? endOf(context.response)
  if (!trace?.isOurs || !trace.isSampled) return []
  const { traceId, spanId, parentSpanId } = trace
  const call = describeModelCall(facts)
  const whole: Span = {
    traceId,
    spanId,
    kind: SERVER,
    name: call?.name ?? `${request.method} ${route}`,
    parentSpanId,
    ...between(startedAt, endedAt),
    attributes: toAttributes({ ...describeRequest(context, status), ...call?.attributes }),
    ...(status >= 500 ? { status: { code: 2 } } : {}),
  }
  const parts = Object.entries(timings).flatMap(([name, { startedAt: start, tookMs }]): Span[] => {
    if (name === 'upstream' && facts.attemptFacts) return []
    const ids = { traceId, spanId: newSpanId(), parentSpanId: spanId }
    return [{ ...ids, kind: INTERNAL, name, ...between(start, start + tookMs), attributes: [] }]
  })
  const attempts = facts.attemptFacts ?? []
  const spans = attempts.map((one, index) => toAttemptSpan(context, one, index))
  return [whole, ...parts, ...spans]
}

function toAttemptSpan({ trace, facts }: Context, attempt: AttemptFacts, index: number): Span {
  const { traceId = '', spanId: parentSpanId = '' } = trace ?? {}
  const isLast = index === (facts.attemptFacts?.length ?? 0) - 1
  const { spanId, startedAt, endedAt, errorType } = attempt
  // The attempt of a stream lasts until its end.
  const isOpen = isLast && facts.isStream && errorType === undefined
  const { name, attributes } = describeAttempt(facts, attempt, isLast)
  return {
    traceId,
    spanId,
    parentSpanId,
    kind: CLIENT,
    name,
    ...between(startedAt, isOpen ? performance.now() : endedAt),
    attributes: toAttributes(attributes),
    ...(errorType === undefined ? {} : { status: { code: 2 } }),
  }
}

function describeRequest({ requestId, request, route, facts }: Context, status: number) {
  return {
    'http.request.method': request.method,
    'http.route': route,
    'http.response.status_code': status,
    'tributary.request_id': requestId,
    'tributary.outcome': facts.outcome ?? (status === CALLER_LEFT ? 'caller_gone' : 'ok'),
    'tributary.account_id': facts.accountId,
    'tributary.key_id': facts.keyId,
    'tributary.channel': facts.channel,
    'tributary.attempts': facts.attempts,
    'tributary.charged_nanos': facts.chargedNanos,
  }
}

/** From times of the monotonic clock, in milliseconds. */
function between(start: number, end: number) {
  return { startTimeUnixNano: toUnixNanos(start), endTimeUnixNano: toUnixNanos(end) }
}

export function toUnixNanos(monotonicMs: number): string {
  const unixMs = performance.timeOrigin + monotonicMs
  return (BigInt(Math.round(unixMs * 1000)) * 1000n).toString()
}
