/**
 * A request as spans: one for the whole, one for each of its timed parts, one for each attempt at
 * an upstream, by OpenTelemetry's conventions for generative AI. Attributes hold only what the
 * access log may: nothing that a caller wrote.
 */
import {
  type HrTime,
  type Context as OtelContext,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace as traces,
} from '@opentelemetry/api'
import { type AttemptFacts, CALLER_LEFT, type Context, endOf } from '../http/context.ts'
import { newSpanId } from '../http/trace-context.ts'
import { type AttributeValues, describeAttempt, describeModelCall, present } from './gen-ai.ts'

/** The ids of the next span: an attempt's were sent to the vendor before it is written. */
const next = { traceId: '', spanId: '' }

export const PRESET_IDS = {
  generateTraceId: () => next.traceId,
  generateSpanId: () => next.spanId,
}

interface Span {
  readonly name: string
  readonly kind: SpanKind
  /** From the monotonic clock, in milliseconds. */
  readonly start: number
  readonly end: number
  readonly attributes: AttributeValues
  readonly isError?: boolean
}

/** Returns a function that writes the spans of a request; none if its trace is not sampled. */
export function createSpanWriter(tracer: Tracer): (context: Context) => void {
  function write(parent: OtelContext, ids: typeof next, span: Span): void {
    Object.assign(next, ids)
    const { name, kind, attributes } = span
    const startTime = toTime(span.start)
    const written = tracer.startSpan(
      name,
      { kind, startTime, attributes: present(attributes) },
      parent,
    )
    if (span.isError) written.setStatus({ code: SpanStatusCode.ERROR })
    written.end(toTime(span.end))
  }
  return (request) => {
    const { trace, timings, facts } = request
    if (!trace?.isOurs || !trace.isSampled) return
    const { traceId, spanId, parentSpanId } = trace
    const sampled = { traceId, traceFlags: TraceFlags.SAMPLED }
    const caller = parentSpanId && { ...sampled, spanId: parentSpanId, isRemote: true }
    write(toParent(caller || undefined), { traceId, spanId }, describeWhole(request))
    const whole = toParent({ ...sampled, spanId })
    for (const [name, { startedAt: start, tookMs }] of Object.entries(timings)) {
      if (name === 'upstream' && facts.attemptFacts) continue
      const part = { name, kind: SpanKind.INTERNAL, start, end: start + tookMs, attributes: {} }
      write(whole, { traceId, spanId: newSpanId() }, part)
    }
    for (const attempt of facts.attemptFacts ?? []) {
      write(whole, { traceId, spanId: attempt.spanId }, toAttemptSpan(request, attempt))
    }
  }
}

/** Returns a context in which `span` is the parent, or one without a parent. */
export function toParent(span: SpanContext | undefined): OtelContext {
  return span ? traces.setSpanContext(ROOT_CONTEXT, span) : ROOT_CONTEXT
}

function describeWhole(context: Context): Span {
  const { request, route, startedAt, facts } = context
  const { at: end, status } = context.end ?? endOf(context.response)
  const call = describeModelCall(facts)
  return {
    name: call?.name ?? `${request.method} ${route}`,
    kind: SpanKind.SERVER,
    start: startedAt,
    end,
    attributes: { ...describeRequest(context, status), ...call?.attributes },
    isError: status >= 500,
  }
}

function toAttemptSpan({ facts }: Context, attempt: AttemptFacts): Span {
  const isLast = attempt === facts.attemptFacts?.at(-1)
  const { startedAt: start, endedAt, errorType } = attempt
  // The attempt of a stream lasts until its end.
  const isOpen = isLast && facts.isStream && errorType === undefined
  const end = isOpen ? performance.now() : endedAt
  const described = describeAttempt(facts, attempt, isLast)
  return { ...described, kind: SpanKind.CLIENT, start, end, isError: errorType !== undefined }
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

function toTime(monotonicMs: number): HrTime {
  const unixMicros = Math.round((performance.timeOrigin + monotonicMs) * 1000)
  return [Math.floor(unixMicros / 1_000_000), (unixMicros % 1_000_000) * 1000]
}
