/**
 * Verb 6: sends the call by its routes until one succeeds: at most three attempts at each model,
 * only before anything was sent to the caller, and never after an unknown outcome.
 */

import { afterAnswer, type Context, noteTime } from '../../../base/http/context.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import { noteWork } from '../../../base/lib/process/loop-watch.ts'
import { InvalidRequest } from '../../../wire/dialects/invalid-request.ts'
import { UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import type { UpstreamAnswer } from '../../../wire/upstreams/upstream.ts'
import { nameTakenOut } from '../answer/name-taken-out.ts'
import { type OpenedAnswer, openAnswer } from '../answer/open-answer.ts'
import { roomOf } from '../answer/receive-whole.ts'
import type { FallbackCall } from '../hold/quote.ts'
import type { MeteredCall } from '../hold/take-hold.ts'
import type { Stopping } from '../load/stopping.ts'
import { sellsSearch } from '../price/dimensions.ts'
import { orderRoutes, type UsableRoute } from '../request/find-routes.ts'
import type { ResolvedCall } from '../request/resolve.ts'
import type { Services } from '../services.ts'
import { Deadline } from './deadline.ts'
import { traceAttempt } from './trace-attempt.ts'
import { openWire, type WireTrace } from './wire.ts'

const ATTEMPTS_MAX = 3
/** Characters of a failure's reason that a record keeps. */
const REASON_MAX = 300

/** One attempt at one channel, for the usage record. */
export interface Attempt {
  readonly channel: string
  /** The number of the channel's key; absent for the first. */
  readonly key?: number
  readonly upstream_model: string
  readonly outcome: string
  readonly status?: number
  /** The reason of a failure in the vendor's words, only for operators. */
  readonly reason?: string
  readonly milliseconds: number
  /** The fallback model, with the version of its prices; absent for the model of the call. */
  readonly model?: string
  readonly price_version?: string | null
  readonly price_list?: string
}

/** The attempts, and the route of the last one. */
export interface DispatchedCall {
  readonly route: UsableRoute
  readonly attempts: readonly Attempt[]
}

/** `serving` is the call as the model that served it was quoted. */
export type DispatchOutcome =
  | (DispatchedCall & { readonly answer: OpenedAnswer; readonly serving: MeteredCall })
  | (DispatchedCall & { readonly failure: UpstreamFailure })

/**
 * Sends the call, at its model and then at those that may stand in for it. `stopping` aborts the
 * waits of adapters when the gateway stops.
 */
export function dispatch(metered: MeteredCall, stopping: Stopping): Promise<DispatchOutcome> {
  const { fallbacks = [], context, call } = metered
  const isChoice = fallbacks.length > 0 || context.facts.model !== call.model.id
  return isChoice ? dispatchToModels(metered, stopping) : dispatchToModel(metered, [], stopping)
}

async function dispatchToModels(
  metered: MeteredCall,
  stopping: Stopping,
): Promise<DispatchOutcome> {
  const { fallbacks = [], services } = metered
  const attempts: Attempt[] = []
  let outcome = await dispatchToModel(metered, attempts, stopping)
  for (const fallback of fallbacks) {
    if (!('failure' in outcome) || !mayFallBack(outcome.failure, fallback, metered)) continue
    if ((await metered.admitOther?.(fallback)) === false) continue
    const isRetry = mayRepeatChannel(fallback, attempts)
    if (isRetry && !services.retries.take(services.inFlight.size())) continue
    const { call, quoted } = fallback
    const standIn = { isRetry }
    outcome = await dispatchToModel({ ...metered, call, quoted }, attempts, stopping, standIn)
  }
  return nameModel(outcome)
}

/**
 * Only a second attempt at the same channel needs the retry budget, since other channels are not
 * the ones that fail.
 */
function mayRepeatChannel({ call }: FallbackCall, attempts: readonly Attempt[]): boolean {
  return call.routes.some(({ channel }) => attempts.some((tried) => tried.channel === channel))
}

/** Adds the header that names the model of the answer. */
function nameModel(outcome: DispatchOutcome): DispatchOutcome {
  if ('failure' in outcome) return outcome
  const { answer, serving } = outcome
  const headers = { ...answer.headers, 'x-tributary-model': serving.call.model.id }
  return { ...outcome, answer: { ...answer, headers } }
}

/** A refusal of the request leads only to models that the caller lists. */
function mayFallBack(
  { kind }: UpstreamFailure,
  { isListed }: FallbackCall,
  { context }: MeteredCall,
): boolean {
  if (kind === 'unknown' || context.response.destroyed) return false
  return kind !== 'rejected' || isListed
}

async function dispatchToModel(
  metered: MeteredCall,
  attempts: Attempt[],
  stopping: Stopping,
  standIn?: { readonly isRetry: boolean },
): Promise<DispatchOutcome> {
  const { context, call, services } = metered
  const candidates = orderRoutes(call.routes, services, call.affinity)
  const { id, priceVersion, list } = call.model
  const standsIn = standIn
    ? {
        model: id,
        price_version: priceVersion?.toString() ?? null,
        ...(list ? { price_list: list.id } : {}),
      }
    : undefined
  let isRetry = standIn?.isRetry ?? false
  for (let tried = 1; ; tried += 1) {
    const route = candidates[(tried - 1) % candidates.length]
    if (!route) throw new GatewayError('upstream_failed')
    const leave = enterChannel(route, metered)
    if (!leave && tried < candidates.length) continue
    // Released even if the attempt throws.
    if (leave) metered.keepSlot?.(leave)
    const start = performance.now()
    const tracing = traceAttempt(context, route, services)
    let outcome: OpenedAnswer | UpstreamFailure
    try {
      outcome = leave
        ? await attempt(metered, route, stopping, tracing.wire)
        : new UpstreamFailure('busy', CHANNEL_FULL)
    } finally {
      if (leave) noteTime(context, 'upstream', start)
    }
    if (isRetry) services.retries.done()
    const milliseconds = Math.round(performance.now() - start)
    const failure = outcome instanceof UpstreamFailure ? outcome : undefined
    tracing.end(failure?.kind)
    attempts.push({ ...describe(route, failure, outcome, milliseconds), ...standsIn })
    context.facts.channel = route.channel
    context.facts.attempts = attempts.length
    if (!(outcome instanceof UpstreamFailure)) {
      noteHealth(route, undefined, services)
      const of = attemptOf(metered, milliseconds)
      afterAnswer(context, () => countAttempt(route, undefined, services, of))
      return { answer: outcome, route, attempts, serving: metered }
    }
    if (!leave) return { failure: outcome, route, attempts }
    leave()
    metered.spending?.free()
    reportAttempt(route, failure, services, attemptOf(metered, milliseconds))
    if (!mayRetry(outcome, tried, candidates.length, context, services)) {
      return { failure: outcome, route, attempts }
    }
    isRetry = true
  }
}

/** A refusal by the limits of a channel, before anything is sent. */
export const CHANNEL_FULL = {
  status: 429,
  message: 'the channel is at its limit of concurrent calls, or close to its spending cap',
  retryAfterSeconds: 1,
}

/**
 * Takes one of the slots of a channel; undefined if all are taken, or if the channel is near its
 * spending cap.
 */
function enterChannel({ target }: UsableRoute, { services, spending, quoted }: MeteredCall) {
  if (spending?.take(target, quoted.amountNanos) === false) return undefined
  const max = services.upstreams.get(target.upstream)?.concurrency?.(target.settings)
  if (max === undefined) return NOTHING_TO_LEAVE
  const leave = services.health.enter(target.key?.channel ?? target.id, max)
  if (!leave) spending?.free()
  return leave
}

const NOTHING_TO_LEAVE = () => undefined

function attemptOf({ metering, call }: MeteredCall, milliseconds: number): AttemptOf {
  return { endpoint: metering.endpoint, model: call.model.id, seconds: milliseconds / 1000 }
}

async function attempt(
  { context, metering, call, hold, services }: MeteredCall,
  route: UsableRoute,
  stopping: Stopping,
  trace: WireTrace,
): Promise<OpenedAnswer | UpstreamFailure> {
  const adapter = services.upstreams.get(route.target.upstream)?.calls[metering.operation]
  if (!adapter) return new UpstreamFailure('channel_fault', { message: 'no such operation' })
  const { limits } = call.model
  const idleTimeoutMs = limits.idle_timeout_ms ?? services.limits.idleTimeoutMs
  const firstByteTimeoutMs = limits.first_byte_timeout_ms ?? services.limits.firstByteTimeoutMs
  const room = roomOf(context, services)
  const deadline = new Deadline(limitWhole(call, services))
  const wire = openWire(hold, {
    dispatcher: services.dispatcher,
    room,
    firstByteTimeoutMs,
    idleTimeoutMs,
    deadline,
    connectTimeoutMs: services.limits.connectTimeoutMs,
    socketsMax: services.limits.socketsMax,
    stopping,
    trace,
  })
  try {
    const answer: UpstreamAnswer = await adapter(wire, {
      settings: route.target.settings,
      upstreamModel: route.upstreamModel,
      outputTokensMax: call.model.limits.max_output_tokens,
      sellsSearch: sellsSearch(call.model),
      request: call.request,
    })
    noteWork(context)
    const unwatch = watchCaller(context, answer, call, services)
    try {
      const named = nameTakenOut(answer, call, metering.endpoint, services, (count) => {
        afterAnswer(context, count)
      })
      const opened = await openAnswer(named, room, deadline.leftMs())
      if (opened.kind === 'stream')
        deadline.extend(limitStream(call, services) + services.limits.drainMs)
      return opened
    } finally {
      unwatch()
    }
  } catch (error) {
    if (error instanceof UpstreamFailure) return error
    if (error instanceof InvalidRequest) {
      const { message, param } = error
      return new UpstreamFailure('rejected', { message, param })
    }
    throw error
  }
}

/** Additional time per byte of a recording, which is processed at the pace of speech. */
const MS_PER_FILE_BYTE = 1 / 16

/** Returns the most time of a whole answer, and that to the first event of a stream. */
export function limitWhole({ model, request }: ResolvedCall, { limits }: Services): number {
  const total = model.limits.total_timeout_ms ?? limits.wholeTimeoutMs
  return total + (request.file?.bytes ?? 0) * MS_PER_FILE_BYTE
}

/** Returns the most time from the first event of a stream to its last. */
export function limitStream({ model, request }: ResolvedCall, { limits }: Services): number {
  const total = model.limits.total_timeout_ms ?? limits.streamTimeoutMs
  return total + (request.file?.bytes ?? 0) * MS_PER_FILE_BYTE
}

/**
 * If the caller disconnects before the answer starts, stops feeding streaming input and limits the
 * remaining read to `drainMs`. A whole answer with an Idempotency-Key is completed instead, since
 * the caller may repeat the request.
 */
function watchCaller(
  { response }: Context,
  answer: UpstreamAnswer,
  call: ResolvedCall,
  { limits }: Services,
): () => void {
  const { leave, body } = answer
  if (!leave || (!answer.stream && call.idempotency)) return () => undefined
  let timer: NodeJS.Timeout | undefined
  const onGone = () => {
    leave()
    timer ??= setTimeout(() => body.destroy(new Error('the caller disconnected')), limits.drainMs)
  }
  let isOpening = true
  response.once('close', () => (isOpening ? onGone() : leave()))
  if (response.destroyed) onGone()
  return () => {
    isOpening = false
    clearTimeout(timer)
  }
}

function mayRetry(
  failure: UpstreamFailure,
  attempts: number,
  routes: number,
  context: Context,
  services: Services,
): boolean {
  const hasUntried = attempts < routes
  const repeatable =
    failure.kind === 'not_sent' || failure.kind === 'failed' || failure.kind === 'busy'
  const useful = hasUntried
    ? repeatable || failure.kind === 'channel_fault'
    : failure.kind === 'not_sent'
  if (!useful || attempts >= ATTEMPTS_MAX || context.response.destroyed) return false
  return services.retries.take(services.inFlight.size())
}

/** The call or task of an attempt, and how long it took if that is the vendor's latency. */
export interface AttemptOf {
  readonly endpoint: string
  readonly model: string
  readonly seconds?: number
}

/** Reports an attempt's outcome to metrics, channel health and the log. */
export function reportAttempt(
  route: Pick<UsableRoute, 'channel'>,
  failure: UpstreamFailure | undefined,
  services: Services,
  of: AttemptOf,
): void {
  countAttempt(route, failure, services, of)
  noteHealth(route, failure, services)
}

function countAttempt(
  { channel }: Pick<UsableRoute, 'channel'>,
  failure: UpstreamFailure | undefined,
  { metrics }: Services,
  { endpoint, model, seconds }: AttemptOf,
): void {
  metrics.attempt({ endpoint, model, seconds, channel, outcome: failure?.kind ?? 'answered' })
}

function noteHealth(
  route: Pick<UsableRoute, 'channel'>,
  failure: UpstreamFailure | undefined,
  { health, log }: Services,
): void {
  if (!failure || failure.kind === 'rejected') {
    health.succeeded(route.channel)
    health.noteSuccess(route.channel)
    return
  }
  const { retryAfterSeconds, status, message } = failure.details
  health.noteError(route.channel, { kind: failure.kind, status, message })
  health.failed(
    route.channel,
    retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1000,
  )
  const fields = { channel: route.channel, kind: failure.kind, status, reason: message }
  if (failure.kind === 'channel_fault') log.error(fields, 'a channel needs operator attention')
  else log.warn(fields, 'an upstream attempt failed')
}

function describe(
  { target, upstreamModel }: UsableRoute,
  failure: UpstreamFailure | undefined,
  outcome: OpenedAnswer | UpstreamFailure,
  milliseconds: number,
): Attempt {
  const status = failure ? failure.details.status : (outcome as OpenedAnswer).status
  const reason = failure?.details.message?.slice(0, REASON_MAX)
  return {
    channel: target.key?.channel ?? target.id,
    ...(target.key ? { key: target.key.number } : {}),
    upstream_model: upstreamModel,
    outcome: failure?.kind ?? 'answered',
    status,
    reason,
    milliseconds,
  }
}
