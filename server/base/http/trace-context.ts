/**
 * The trace that a request belongs to, by W3C Trace Context: the caller's, or one of our own. The
 * header is passed to upstreams with the id of the attempt.
 */
import { randomBytes } from 'node:crypto'

export interface TraceContext {
  readonly traceId: string
  /** The id of the request's span; the caller's own span while nothing is traced here. */
  readonly spanId: string
  readonly parentSpanId?: string
  readonly isSampled: boolean
  /** False while nothing is traced here: the caller's header passes unchanged. */
  readonly isOurs: boolean
}

export interface TraceParent {
  readonly traceId: string
  readonly spanId: string
  readonly sampled: boolean
}

/**
 * Accepts version 00, and later versions that begin in the same way; undefined for anything else.
 */
export function parseTraceParent(header: unknown): TraceParent | undefined {
  if (typeof header !== 'string') return undefined
  const found = /^(?!ff)[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-|$)/.exec(header)
  const [, traceId = '', spanId = '', flags = ''] = found ?? []
  if (!found || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

export function newSpanId(): string {
  return randomBytes(8).toString('hex')
}

/**
 * Begins the trace of a request. `isSampled` decides whether it is sampled; without it nothing is
 * traced here.
 */
export function startTrace(
  header: unknown,
  isSampled: ((traceId: string, parent: TraceParent | undefined) => boolean) | undefined,
): TraceContext | undefined {
  const parent = parseTraceParent(header)
  if (!isSampled) {
    if (!parent) return undefined
    const { traceId, spanId, sampled } = parent
    return { traceId, spanId, isSampled: sampled, isOurs: false }
  }
  const traceId = parent?.traceId ?? randomBytes(16).toString('hex')
  return {
    traceId,
    spanId: newSpanId(),
    ...(parent && { parentSpanId: parent.spanId }),
    isSampled: isSampled(traceId, parent),
    isOurs: true,
  }
}

/** Returns the header for an upstream; `spanId` is that of the attempt. */
export function formatTraceParent({ traceId, isSampled }: TraceContext, spanId: string): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}
