/** One HTTP exchange as handlers see it. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { CallLabels } from '../lib/call-labels.ts'
import { newRequestId } from '../lib/ids.ts'
import type { Portion } from '../lib/memory/budget.ts'
import type { Memory, MemoryKind } from '../lib/memory/memory.ts'
import { noteWork } from '../lib/process/loop-watch.ts'
import type { AllowedOrigins } from './cors.ts'
import type { Envelope } from './envelope.ts'
import type { KnownRates } from './rate-headers.ts'
import type { TraceContext } from './trace-context.ts'

/** The timed parts of a call, reported in `Server-Timing` in milliseconds. */
export const TIMED_PARTS = ['auth', 'hold', 'upstream', 'settle'] as const
export type TimedPart = (typeof TIMED_PARTS)[number]

export interface Timing {
  /** The start of the first measurement, as performance.now(). */
  readonly startedAt: number
  /** The sum of all measurements in milliseconds. */
  readonly tookMs: number
}

/** The forms in which responses of a route may be sent. */
export interface ResponsePolicy {
  /** Compressed for callers that accept it. */
  readonly compresses: boolean
  /** The origins whose pages may call; none if absent. */
  readonly origins?: AllowedOrigins | undefined
}

const PLAIN: ResponsePolicy = { compresses: false }

export interface Context {
  readonly requestId: string
  /** The caller's own id for this request. */
  readonly clientRequestId: string | undefined
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly path: string
  readonly query: URLSearchParams
  readonly params: Readonly<Record<string, string | undefined>>
  readonly envelope: Envelope
  readonly policy: ResponsePolicy
  /** The route's pattern: a bounded label for logs and metrics. */
  readonly route: string
  /** performance.now() when the request head had arrived. */
  readonly startedAt: number
  readonly timings: Partial<Record<TimedPart, Timing>>
  /** Facts for the access log, filled in during the call. */
  readonly facts: LogFacts
  readonly trace: TraceContext | undefined
  readonly memory: Memory
  /** Released when no part of the request runs any longer; absent if it uses nothing. */
  portions?: Portion[]
  /** Bytes of its body, decoded, once it has arrived. */
  bodyBytes: number
  /** Kept with its hold and its record; set before the hold is taken. */
  labels?: CallLabels
  /**
   * Throws if too many of the caller's requests have been refused since it arrived; absent without
   * a key.
   */
  checkAgain?: () => void
  /** The rest of the caller's rate limits; absent without limits. */
  rates?: KnownRates
  /** Set once money is held for it. */
  isAccepted?: true
  /** Set when the response has ended or its caller has gone; the call may go on. */
  end?: ResponseEnd
  /** See afterAnswer. */
  later?: (() => void)[] | undefined
}

interface ResponseEnd {
  /** performance.now() at that moment. */
  readonly at: number
  readonly status: number
}

const SWITCHING_PROTOCOLS = 101
/**
 * The status of a request whose caller left before the response head was sent, as proxies log it.
 */
export const CALLER_LEFT = 499

/** Returns how a response that has been closed ended. */
export function endOf({ headersSent, statusCode }: ServerResponse): ResponseEnd {
  const isAnswered = headersSent || statusCode === SWITCHING_PROTOCOLS
  return { at: performance.now(), status: isAnswered ? statusCode : CALLER_LEFT }
}

/** One attempt at an upstream, for traces and metrics of the OpenTelemetry conventions. */
export interface AttemptFacts {
  readonly spanId: string
  readonly startedAt: number
  readonly endedAt: number
  readonly provider: string
  readonly channel: string
  readonly upstreamModel: string
  /** The vendor's address; undefined if nothing was sent. */
  readonly address?: string | undefined
  /** The kind of its failure; absent if it was answered. */
  readonly errorType?: string | undefined
}

/** The allow-list of the access log: nothing else of a request is ever logged. */
export interface LogFacts {
  accountId?: string
  keyId?: string
  model?: string
  channel?: string
  outcome?: string
  attempts?: number
  chargedNanos?: bigint
  /** Quantities by unit, as the upstream stated them or as they are charged. */
  usage?: Readonly<Partial<Record<string, number>>>
  /** performance.now() when the first output of a stream was sent. */
  firstOutputAt?: number
  /** The adapters' operation, for example `chat`; absent for requests without an upstream. */
  operation?: string
  isStream?: boolean
  attemptFacts?: AttemptFacts[]
  /** The vendor's id for the answer. */
  answerId?: string
}

export interface RequestRoute {
  readonly path: string
  readonly pattern: string
  readonly query: URLSearchParams
  readonly params: Readonly<Record<string, string | undefined>>
  readonly envelope: Envelope
  readonly policy?: ResponsePolicy
}

export function createContext(
  request: IncomingMessage,
  response: ServerResponse,
  route: RequestRoute,
  memory: Memory,
  trace?: TraceContext,
): Context {
  return {
    requestId: newRequestId(),
    clientRequestId: readClientRequestId(request.headers),
    request,
    response,
    path: route.path,
    query: route.query,
    params: route.params,
    envelope: route.envelope,
    policy: route.policy ?? PLAIN,
    route: route.pattern,
    startedAt: performance.now(),
    timings: {},
    facts: {},
    trace,
    memory,
    bodyBytes: 0,
  }
}

/** Notes what is left of the caller's rate limits, for the response headers. */
export function noteRates(context: Context, rates: Omit<KnownRates, 'atMs'>): void {
  context.rates = { ...rates, atMs: Date.now() }
}

/** Returns the account that a request's bytes count towards: none before it is identified. */
export function accountOf({ facts }: Pick<Context, 'facts'>): string {
  return facts.accountId ?? ''
}

/** Runs work that only counts or logs, once the caller has the answer or has left. */
export function afterAnswer(context: Context, count: () => void): void {
  if (context.end) {
    count()
    return
  }
  context.later ??= []
  context.later.push(count)
}

/** Notes that the response has ended or its caller has gone. */
export function endContext(context: Context): void {
  context.end = endOf(context.response)
  const { later = [] } = context
  // Not deleted: an object that has lost a member is slow from then on.
  context.later = undefined
  for (const count of later) count()
}

/** Returns a portion that is released once no part of the request runs any longer. */
export function takePortion(context: Context, kind: MemoryKind): Portion {
  const portion = context.memory.bytes.portion(accountOf(context), kind)
  context.portions ??= []
  context.portions.push(portion)
  return portion
}

const CLIENT_REQUEST_ID = /^[\x21-\x7e]{1,128}$/

/** Proxies write `x-request-id`, so the other header is the caller's own. */
function readClientRequestId(headers: IncomingHttpHeaders): string | undefined {
  const id = headers['x-client-request-id'] ?? headers['x-request-id']
  return typeof id === 'string' && CLIENT_REQUEST_ID.test(id) ? id : undefined
}

/**
 * Adds the time since `startedAt`, a performance.now(), to one part of the call. The work that
 * follows is counted for its request again.
 */
export function noteTime(context: Context, part: TimedPart, startedAt: number): void {
  const { timings } = context
  noteWork(context)
  const tookMs = performance.now() - startedAt
  const before = timings[part]
  timings[part] = before
    ? { startedAt: before.startedAt, tookMs: before.tookMs + tookMs }
    : { startedAt, tookMs }
}

/** Runs one part of a call and adds its duration to `timings`. */
export async function timed<T>(context: Context, part: TimedPart, work: () => Promise<T>) {
  const startedAt = performance.now()
  try {
    return await work()
  } finally {
    noteTime(context, part, startedAt)
  }
}
