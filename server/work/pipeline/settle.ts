/** Verb 8: charges the call, returns the rest of the hold and writes the record, in one commit. */

import { afterAnswer, noteTime } from '../../base/http/context.ts'
import { member, tryParseJson } from '../../base/lib/json.ts'
import type { EndedStatus } from '../../base/lib/kinds-and-states.ts'
import { redactInternals } from '../../base/lib/text/redact-internals.ts'
import { type Quantities, sideOf, type Unit } from '../../base/lib/units.ts'
import type { Settlement } from '../../money/ledger/requests.ts'
import type { SettleVerdict, StoredAnswer } from '../../money/ledger/store.ts'
import type { RelayReport } from '../../wire/dialects/relay.ts'
import type { UpstreamFailure } from '../../wire/upstreams/failure.ts'
import type { DeliveredStream } from './answer/deliver.ts'
import type { WholeAnswer } from './answer/open-answer.ts'
import type { MeteredCall } from './hold/take-hold.ts'
import type { CallPlace, SettledCall } from './pipeline-metrics.ts'
import { type Charge, type Charged, NO_CHARGE } from './price/charge.ts'
import { showSessions, withoutSessions } from './price/container-sessions.ts'
import { costOfFailure, type UpstreamCost } from './price/upstream-cost.ts'
import { type CallEnd, priceEnd, withoutUnstated } from './price-end.ts'
import type { ResolvedCall } from './request/resolve.ts'
import type { Attempt, DispatchedCall } from './send/dispatch.ts'
import type { Services } from './services.ts'

/** An answer waits at most this long for its settlement, then it is sent anyway. */
const SETTLEMENT_WAIT_MS_MAX = 3_000
/** Larger answers are not stored for their Idempotency-Key. */
const STORED_BYTES_MAX = 1024 * 1024

/** Resolves to what is charged, or to undefined if it was not committed in time. */
export async function settleWhole(
  metered: MeteredCall,
  answer: WholeAnswer,
  served: DispatchedCall,
): Promise<Charged | undefined> {
  const report = await countUnstated(metered, answer.report, answer.body)
  const complete = report.error === undefined
  return await settleServed(metered, served, { report, complete }, (end) => {
    const isStated = report.usage ?? report.passes ?? report.statedCost
    const priced = priceEnd(metered, served.route, end, complete || isStated !== undefined)
    const { charge } = priced
    return {
      ...priced,
      // As at the end of a stream: an error that the vendor bills is a failure as well.
      status: complete && charge.nanos !== null ? 'succeeded' : 'failed',
      attempts: served.attempts,
      answer: keepWhole(metered.call, answer, charge),
      ...(report.error ? { error: report.error.message } : {}),
    }
  })
}

/** Resolves as `settleWhole` does. */
export async function settleStream(
  metered: MeteredCall,
  delivered: DeliveredStream,
  served: DispatchedCall,
): Promise<Charged | undefined> {
  const { end, callerGone } = delivered
  const report = await countUnstated(metered, delivered.report)
  const complete = end === 'complete'
  const error = report.error?.message ?? (complete ? undefined : `the stream was ${end}`)
  return await settleServed(metered, served, { report, complete, callerGone }, (callEnd) => {
    const priced = priceEnd(metered, served.route, callEnd)
    const isUnpaid = priced.charge.nanos === null
    // A caller that leaves behind the vendor's error has not ended the call.
    const isCancelled = callerGone && report.error === undefined
    const failed = isUnpaid || (!complete && !isCancelled)
    return {
      ...priced,
      status: isCancelled ? 'cancelled' : failed ? 'failed' : 'succeeded',
      attempts: served.attempts,
      answer: keepState(metered.call, isUnpaid ? 'forget' : 'streamed'),
      error,
    }
  })
}

/** Counts the text of a call whose upstream did not state both its input and its output. */
async function countUnstated(
  { metering, call }: MeteredCall,
  stated: RelayReport,
  answer?: Buffer,
): Promise<RelayReport> {
  const { needs = [], count } = metering
  const report = withoutUnstated(stated, needs)
  const isStated = (unit: Unit) => sideOf(unit).some((one) => report.usage?.[one] !== undefined)
  if (!count || needs.every(isStated)) return report
  return { ...report, counted: await count(call.request, answer) }
}

/** Returns the whole hold: nothing was delivered. */
export async function release(
  metered: MeteredCall,
  refused: (DispatchedCall & { readonly failure: UpstreamFailure }) | undefined,
  error: string,
): Promise<void> {
  const answer = keepState(metered.call, 'forget')
  const attempts = refused?.attempts ?? []
  const cost = refused ? costOfFailure(refused.route.cost, refused.failure.kind) : null
  const outcome = { charge: NO_CHARGE, status: 'failed', attempts, cost, answer, error } as const
  await waitFor(metered, metered.services.ledger.settle(metered.hold, record(metered, outcome)))
}

/**
 * Closes the hold of a call whose end cannot be priced because of a fault of the gateway: it
 * charges the hold if the caller has received output, and otherwise nothing. An operator reviews
 * both cases.
 */
export async function settleUnpriced(
  metered: MeteredCall,
  { attempts }: DispatchedCall,
): Promise<void> {
  const { context, call, hold, quoted, services } = metered
  const isDelivered = context.facts.firstOutputAt !== undefined
  const nanos = isDelivered ? quoted.amountNanos : null
  const basis = isDelivered ? 'estimate' : 'none'
  const charge = { nanos, basis, review: true, lines: [] } as const
  const answer = keepState(call, isDelivered ? 'streamed' : 'forget')
  const ended = { status: 'failed', cost: null, error: 'internal error' } as const
  const outcome = { ...ended, charge, attempts, answer }
  await waitFor(metered, services.ledger.settle(hold, record(metered, outcome)))
}

interface Outcome {
  readonly charge: Charge
  readonly status: Exclude<EndedStatus, 'lost'>
  readonly attempts: readonly Attempt[]
  readonly cost: UpstreamCost | null
  readonly answer: StoredAnswer | undefined
  /** The usage as the upstream stated it, for metrics and the log. */
  readonly usage?: Quantities | undefined
  readonly error?: string
}

/** Settles a call by its end, without the container sessions that another call pays. */
async function settleServed(
  metered: MeteredCall,
  { route }: DispatchedCall,
  end: CallEnd,
  conclude: (end: CallEnd) => Outcome,
): Promise<Charged | undefined> {
  const { context, services, hold } = metered
  const full = conclude(end)
  const { containers } = end.report
  if (!containers || full.charge.nanos === null) {
    const settling = services.ledger.settle(hold, record(metered, full))
    return chargedOf(full, await waitFor(metered, settling), metered)
  }
  const without = (paid: ReadonlySet<string>) => {
    const outcome = conclude({ ...end, report: withoutSessions(end.report, paid) })
    return { ...outcome, charge: showSessions(outcome.charge, full.charge) }
  }
  const claim = { requestId: context.requestId, channelId: route.channel, containers }
  let settled = full
  const settling = services.ledger.settleWithSessions(hold, claim, {
    build(paid) {
      if (paid.size > 0) settled = without(paid)
      return record(metered, settled)
    },
    // Then it is unknown whether another call pays for the sessions, so this call is not charged
    // for them.
    unclaimed: {
      ...toSettlement(without(new Set(containers.map(({ id }) => id)))),
      review: true,
    },
  })
  const verdict = await waitFor(metered, settling)
  return chargedOf(settled, verdict, metered)
}

/** Returns the charge in the record; undefined unless it certainly comes from this settlement. */
function chargedOf(
  { charge }: Outcome,
  verdict: SettleVerdict | undefined,
  { call }: MeteredCall,
): Charged | undefined {
  if (verdict !== 'closed' && verdict !== 'corrected') return undefined
  const { nanos, basis, review } = charge
  return { nanos: nanos ?? 0n, currency: call.model.currency, basis, review }
}

/** Returns the settlement of a call; its outcome is counted and logged after its answer. */
function record(metered: MeteredCall, outcome: Outcome): Settlement {
  const { context, services, call } = metered
  const { charge, cost, status, usage = quantitiesOf(charge) } = outcome
  const { basis, review } = charge
  const { facts } = context
  facts.chargedNanos = charge.nanos ?? 0n
  facts.usage = usage
  metered.spending?.spent(cost?.nanos ?? facts.chargedNanos)
  const settled = {
    ...callPlaceOf(metered),
    status,
    basis,
    review,
    quantities: usage,
    chargedNanos: facts.chargedNanos,
    upstreamCostNanos: cost?.nanos ?? 0n,
    currency: call.model.currency,
  }
  const isFar = cost?.isFarFromUsage === true
  const fields = { request_id: context.requestId, model: call.model.id }
  // Does not refer to the call, since a caller that reads slowly would keep its request in memory.
  afterAnswer(context, () => countSettled(services, settled, fields, isFar))
  return toSettlement(outcome)
}

function countSettled(
  { metrics, log }: Pick<Services, 'metrics' | 'log'>,
  settled: SettledCall,
  fields: Readonly<Record<'request_id' | 'model', string>>,
  isFar: boolean,
): void {
  metrics.settled(settled)
  if (settled.review) {
    log.error(fields, 'the charge differs from the usage that the upstream stated')
  }
  if (!isFar) return
  metrics.upstreamCostDiffers()
  log.warn(fields, 'the cost that the upstream states differs from that of its usage')
}

/** Returns the labels of a call's figures. */
export function callPlaceOf({ context, metering, call }: Place): CallPlace {
  const { channel = '' } = context.facts
  return { endpoint: metering.endpoint, model: call.model.id, channel }
}

type Place = Pick<MeteredCall, 'context' | 'metering' | 'call'>

/** Adds up the lines of a charge by unit. */
export function quantitiesOf({ lines }: Pick<Charge, 'lines'>): Quantities {
  const sums: Record<string, number> = {}
  for (const { unit, quantity } of lines) sums[unit] = (sums[unit] ?? 0) + quantity
  return sums
}

function toSettlement({ charge, status, attempts, cost, answer, error }: Outcome): Settlement {
  const { basis, review, lines } = charge
  return {
    chargeNanos: charge.nanos,
    status,
    basis,
    review,
    lines,
    attempts,
    cost,
    ...(error === undefined ? {} : { error: redactInternals(error).slice(0, 500) }),
    answer,
  }
}

/**
 * Waits for the settlement. It is retried until committed; only the wait for it is limited. After
 * that the settlement is on the local disk before the response is sent, and there is no verdict.
 */
function waitFor(
  { context, services, hold }: MeteredCall,
  settled: Promise<SettleVerdict>,
): Promise<SettleVerdict | undefined> {
  const startedAt = performance.now()
  return new Promise((resolve) => {
    let isOver = false
    const end = (verdict?: SettleVerdict) => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      noteTime(context, 'settle', startedAt)
      resolve(verdict)
    }
    const endUnsettled = () => end()
    const timer = setTimeout(() => {
      services.ledger.preserve(hold).then(endUnsettled, endUnsettled)
    }, SETTLEMENT_WAIT_MS_MAX)
    settled.then(end, (error: unknown) => {
      services.log.error({ request_id: context.requestId, error }, 'settlement failed')
      end()
    })
  })
}

function keepState(call: ResolvedCall, state: 'streamed' | 'forget'): StoredAnswer | undefined {
  return call.idempotency ? { ...claimOf(call.idempotency), state } : undefined
}

function claimOf({ key, route, fingerprint }: NonNullable<ResolvedCall['idempotency']>) {
  return { key, route, fingerprint: fingerprint.toString('hex') }
}

/**
 * Returns true for an error without any output in the answer's body; stated usage, and output that
 * the caller does not get, are charged all the same.
 */
export function isErrorAlone({ report, body }: Pick<WholeAnswer, 'report' | 'body'>): boolean {
  const { error, outputBytes } = report
  if (error === undefined || outputBytes === 0) return error !== undefined
  const document = tryParseJson(body)
  const hasOutput = OUTPUT_MEMBERS.some((name) => member(document, name) !== undefined)
  return member(document, 'error') !== undefined && !hasOutput
}

/** Members with the output, of the dialects whose answers are one document. */
const OUTPUT_MEMBERS = ['choices', 'content', 'output', 'data', 'text']

function keepWhole(
  call: ResolvedCall,
  answer: WholeAnswer,
  charge: Charge,
): StoredAnswer | undefined {
  if (!call.idempotency) return undefined
  if (charge.nanos === null) return keepState(call, 'forget')
  if (isErrorAlone(answer)) return keepState(call, 'streamed')
  if (answer.body.length > STORED_BYTES_MAX) return keepState(call, 'streamed')
  return {
    ...claimOf(call.idempotency),
    state: 'finished',
    status: answer.status,
    content_type: answer.headers['content-type'] ?? 'application/json',
    body: answer.body.toString('base64'),
  }
}
