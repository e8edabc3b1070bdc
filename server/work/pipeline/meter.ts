/**
 * Runs every metered call through eight verbs, in this order: identify, resolve, admit, quote,
 * hold, dispatch, deliver, settle.
 */

import { afterAnswer, type Context } from '../../base/http/context.ts'
import { sendBytes } from '../../base/http/reply.ts'
import { GatewayError, invalidField } from '../../base/lib/errors.ts'
import { OUTPUT_UNITS, sumOf } from '../../base/lib/units.ts'
import type { Caller } from '../../money/accounts/accounts.ts'
import { isOpenHold } from '../../money/ledger/holds/hold.ts'
import { hideInBody } from '../../wire/dialects/hide-error.ts'
import type { RelayReport } from '../../wire/dialects/relay.ts'
import { type DeliveredStream, deliverStream, type StreamBounds } from './answer/deliver.ts'
import type { StreamAnswer, WholeAnswer } from './answer/open-answer.ts'
import { chargeHeaders, createTail, showInBody } from './answer/show-charge.ts'
import { countedQuantities } from './hold/counted-quantities.ts'
import { type FallbackCall, quoteAll } from './hold/quote.ts'
import {
  admit,
  admitFallback,
  admitUncharged,
  findReplay,
  type MeteredCall,
  takeHold,
} from './hold/take-hold.ts'
import type { Leave } from './load/channel-health.ts'
import { Stopping } from './load/stopping.ts'
import type { Body, Metering } from './metering.ts'
import type { Charged } from './price/charge.ts'
import { withoutUnclaimed } from './price/container-sessions.ts'
import { priceEnd } from './price-end.ts'
import { knownIn, nativeRefusal, toGatewayError } from './refusal.ts'
import { rememberAnswer } from './remember-answer.ts'
import { enter } from './request/identify.ts'
import { type ResolvedCall, resolve } from './request/resolve.ts'
import {
  type DispatchedCall,
  type DispatchOutcome,
  dispatch,
  limitStream,
} from './send/dispatch.ts'
import type { Services } from './services.ts'
import {
  callPlaceOf,
  isErrorAlone,
  release,
  settleStream,
  settleUnpriced,
  settleWhole,
} from './settle.ts'

/** Calls that continue in the background; they are run elsewhere once their request is resolved. */
export interface DetachedRun {
  readonly isRequested: (value: Body) => boolean
  readonly run: (context: Context, caller: Caller, call: ResolvedCall) => Promise<void>
}

/** Runs one metered call. Throws GatewayError for every refusal; its hold is closed in any case. */
export function meter(
  context: Context,
  metering: Metering,
  services: Services,
  detached?: DetachedRun,
): Promise<void> {
  return enter(context, services, (caller) => {
    return runFor(caller, context, metering, services, detached)
  })
}

async function runFor(
  caller: Caller,
  context: Context,
  metering: Metering,
  services: Services,
  detached: DetachedRun | undefined,
): Promise<void> {
  const { operation } = metering
  context.facts.operation = operation
  const call = await resolve(context, metering, caller, services, ({ calls }) => {
    return calls[operation] !== undefined
  })
  try {
    if (detached?.isRequested(call.request.value)) {
      refuseList(call)
      await detached.run(context, caller, call)
    } else await run(context, metering, caller, call, services)
  } finally {
    if (call.request.file) await call.discard()
  }
}

/** Throws a 400 for background work that lists models: a task stays at its first one. */
function refuseList({ fallbacks = [] }: ResolvedCall): void {
  if (fallbacks.every(({ field }) => field === undefined)) return
  throw invalidField('models', 'not with background: true')
}

async function run(
  context: Context,
  metering: Metering,
  caller: Caller,
  call: ResolvedCall,
  services: Services,
): Promise<void> {
  if (call.idempotency && (await sendReplay(context, caller, call, services))) return
  admit(services)
  const { call: sent, quoted, mostExpensive, fallbacks } = quoteAll(metering, call, services)
  const hold = await takeHold(context, metering, caller, sent, mostExpensive.quoted, services)
  const admitOther = (other: FallbackCall) =>
    admitFallback(
      caller,
      other.call.model,
      countedQuantities(other.call.model, other.quoted.quantities),
      hold,
      services,
    )
  const slots: Leave[] = []
  const keepSlot = (leave: Leave) => void slots.push(leave)
  const spending = services.spending.begin(caller.currency)
  const shared = { context, metering, services, fallbacks, admitOther, keepSlot, spending }
  try {
    await runHeld({ ...shared, call: sent, hold, quoted })
  } finally {
    for (const leave of slots) leave()
    spending.end()
  }
}

/**
 * Sends the answer of an earlier request with the same Idempotency-Key again, with the id of that
 * request. Returns false if there is none. The repetition counts as a request that costs nothing.
 */
export async function sendReplay(
  context: Context,
  caller: Caller,
  call: ResolvedCall,
  services: Services,
): Promise<boolean> {
  const replay = await findReplay(context, caller, call, services)
  if (!replay) return false
  await admitUncharged(context, caller, services)
  context.facts.outcome = 'replayed'
  const headers = { 'content-type': replay.contentType, 'idempotent-replayed': replay.requestId }
  sendBytes(context, replay.status, headers, showInBody({ call }, replay.body, replay.charged))
  return true
}

const STOPPING = 'the gateway is stopping'

/** Runs a call that has a hold: every path ends in a settlement or a release. */
async function runHeld(metered: MeteredCall): Promise<void> {
  const { context } = metered
  let dispatched: DispatchOutcome | undefined
  try {
    dispatched = await dispatchUntilStopped(metered)
  } catch (error) {
    await release(metered, undefined, 'internal error')
    throw error
  }
  if (!dispatched) {
    await release(metered, undefined, STOPPING)
    throw new GatewayError('unavailable', { retryAfterSeconds: 1, cause: STOPPING })
  }
  if ('failure' in dispatched) {
    await refuse(metered, dispatched)
    return
  }
  const { answer, serving } = dispatched
  context.facts.isStream = answer.kind === 'stream'
  try {
    if (answer.kind === 'whole') {
      // A gateway that stops waits for the text to be counted, and for its settlement.
      const leave = serving.services.inFlight.add({ abort: () => undefined })
      await finishWhole(serving, answer, dispatched).finally(leave)
    } else await finishStream(serving, answer, dispatched)
  } catch (error) {
    // The hold is closed whatever fails between an answer and its settlement.
    if (isOpenHold(serving.hold)) await settleUnpriced(serving, dispatched)
    if (answer.kind === 'stream') answer.body.destroy()
    throw error
  }
}

/**
 * Resolves to undefined once the gateway stops: an answer that arrives after the drain is neither
 * charged nor delivered.
 */
function dispatchUntilStopped(metered: MeteredCall): Promise<DispatchOutcome | undefined> {
  return new Promise((resolve, reject) => {
    const stopping = new Stopping()
    const leave = metered.services.inFlight.add({
      abort() {
        stopping.abort()
        leave()
        resolve(undefined)
      },
    })
    dispatch(metered, stopping).then(
      (outcome) => {
        leave()
        resolve(outcome)
      },
      (error: unknown) => {
        leave()
        reject(error)
      },
    )
  })
}

async function refuse(
  metered: MeteredCall,
  refused: Extract<DispatchOutcome, { failure: unknown }>,
): Promise<void> {
  const { failure } = refused
  const error = toGatewayError(failure, metered.call.request.body)
  await release(metered, refused, error.message)
  const native = nativeRefusal(metered.metering, failure, metered.call.request.body)
  if (!native) throw error
  metered.context.facts.outcome = 'refused_upstream'
  // SDKs retry some statuses, but the vendor would refuse this request again.
  const headers = { 'content-type': native.contentType, 'x-should-retry': 'false' }
  sendBytes(metered.context, native.status, headers, native.body)
}

async function finishWhole(
  metered: MeteredCall,
  opened: WholeAnswer,
  served: DispatchedCall,
): Promise<void> {
  const { request } = metered.call
  const isFailed = opened.report.error !== undefined
  const answer = isFailed
    ? { ...opened, body: hideInBody(opened.body, knownIn(request.body)) }
    : opened
  const charged = await settleWhole(metered, answer, served)
  await keepAnswer(metered, answer.report)
  if (answer.report.error && metered.context.facts.chargedNanos === 0n) {
    metered.context.facts.outcome = 'failed_upstream'
  }
  if (isErrorAlone(answer)) throw new GatewayError('upstream_failed', { retry: false })
  const headers = { ...answer.headers, ...chargeHeaders(charged) }
  sendBytes(metered.context, answer.status, headers, showInBody(metered, answer.body, charged))
}

/**
 * Remembers the vendor's ids of the answer and its parts. Called before the caller has the last
 * byte, since it may refer to them at once.
 */
async function keepAnswer(metered: MeteredCall, report: RelayReport): Promise<void> {
  const { metering, call, hold, services, context } = metered
  const { answerId, itemIds, keptIds } = report
  if (answerId) context.facts.answerId = answerId
  const { channel: channelId } = context.facts
  const isStored = answerId !== undefined && metering.keepsAnswer?.(call.request.value) === true
  if (!channelId || !(isStored || itemIds || keptIds)) return
  const { accountId, requestId } = hold
  await rememberAnswer({ accountId, channelId, requestId, isStored, report }, services)
}

/** Returns the charge that applies if the process dies now. */
function checkpoint(metered: MeteredCall, { relay }: StreamAnswer, served: DispatchedCall) {
  const ended = { report: withoutUnclaimed(relay.report()), complete: false }
  const { charge, cost } = priceEnd(metered, served.route, ended)
  if (charge.nanos === null) return undefined
  return { chargeNanos: charge.nanos, lines: charge.lines, attempts: served.attempts, cost }
}

function boundsOf({ call, quoted, services }: MeteredCall): StreamBounds {
  return { totalMs: limitStream(call, services), outputTokens: quoted.streamTokens }
}

/** Notes when the first output came, and how fast the rest followed where tokens are stated. */
function noteTimes(metered: MeteredCall, { report, end }: DeliveredStream): void {
  const { context, services } = metered
  const { firstOutputAt } = context.facts
  if (firstOutputAt === undefined) return
  const tokens = sumOf(report.usage ?? {}, OUTPUT_UNITS)
  const restSeconds = (performance.now() - firstOutputAt) / 1000
  const times = {
    ...callPlaceOf(metered),
    firstTokenSeconds: (firstOutputAt - context.startedAt) / 1000,
    perTokenSeconds: end === 'complete' && tokens > 1 ? restSeconds / (tokens - 1) : undefined,
  }
  afterAnswer(context, () => services.metrics.streamed(times))
}

async function finishStream(
  metered: MeteredCall,
  answer: StreamAnswer,
  served: DispatchedCall,
): Promise<void> {
  const { services, context, hold } = metered
  services.ledger.watch(hold, () => checkpoint(metered, answer, served))
  const tail = createTail(metered)
  const delivered = await deliverStream(context, answer, services, boundsOf(metered), tail)
  context.facts.outcome = delivered.callerGone ? 'caller_gone' : delivered.end
  noteTimes(metered, delivered)
  let charged: Charged | undefined
  try {
    charged = await settleStream(metered, delivered, served)
    // An interrupted answer was charged only in part, so it must not be readable for free
    // afterwards.
    if (delivered.end === 'complete') await keepAnswer(metered, delivered.report)
  } catch (error) {
    throw new GatewayError('internal', { cause: error })
  } finally {
    delivered.release(charged)
  }
}
