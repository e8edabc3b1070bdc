/** Verb 8: charges the call, returns the rest of the hold and writes the record, in one commit. */

import { noteTime } from '../../base/http/context.ts'
import { member, tryParseJson } from '../../base/lib/json.ts'
import { redactInternals } from '../../base/lib/text/redact-internals.ts'
import { type Quantities, sideOf, type Unit } from '../../base/lib/units.ts'
import type { Facts } from '../../money/catalog/catalog.ts'
import type { Settlement } from '../../money/ledger/requests.ts'
import type { SettleVerdict, StoredAnswer } from '../../money/ledger/store.ts'
import type { RelayReport } from '../../wire/dialects/relay.ts'
import type { UpstreamFailure } from '../../wire/upstreams/failure.ts'
import type { DeliveredStream } from './answer/deliver.ts'
import type { WholeAnswer } from './answer/open-answer.ts'
import type { BillableCall, MeteredCall } from './hold/metered-call.ts'
import { channelFactsOf } from './hold/quote.ts'
import type { CallPlace } from './pipeline-metrics.ts'
import { onlyStated } from './price/ceiling.ts'
import { type Charge, type Charged, computeCharge, NO_CHARGE } from './price/charge.ts'
import { showSessions, withoutSessions } from './price/container-sessions.ts'
import { withListAmounts } from './price/list-amount.ts'
import { preferRequested } from './price/prefer-requested.ts'
import { computeUpstreamCost, costOfFailure, type UpstreamCost } from './price/upstream-cost.ts'
import type { ResolvedCall } from './request/resolve.ts'
import type { Attempt, DispatchedCall } from './send/dispatch.ts'

/** An answer waits at most this long for its settlement, then it is sent anyway. */
const SETTLEMENT_WAIT_MS_MAX = 3_000
/** Larger answers are not stored for their Idempotency-Key. */
const STORED_BYTES_MAX = 1024 * 1024

export interface CallEnd {
  readonly report: RelayReport
  readonly complete: boolean
  /** True if the caller disconnected: the delivered part is charged on every endpoint. */
  readonly callerGone?: boolean
}

/** Computes the charge if the call ends here, for checkpoints and for its real end. */
export function chargeFor(
  metered: BillableCall,
  { route }: Pick<DispatchedCall, 'route'>,
  end: CallEnd,
): Charge {
  const { metering, call, quoted, services } = metered
  const facts = factsOf(metered, end)
  const channelFacts = channelFactsOf(route, services)
  const charge = computeCharge({
    model: call.model,
    facts,
    channelFacts,
    holdNanos: quoted.amountNanos,
    holdEstimate: quoted,
    report: end.report,
    complete: end.complete,
    billsBroken: metering.billsBroken || end.callerGone === true,
    needs: metering.needs,
    fallback: (complete) => metering.fallback(call.request, end.report, complete),
  })
  const { list } = call.model
  return list ? withListAmounts(charge, list.basePrices, { facts, channelFacts }) : charge
}

/** Computes the upstream cost of the same call. */
export function upstreamCostFor(
  metered: BillableCall,
  { route }: Pick<DispatchedCall, 'route'>,
  end: CallEnd,
  charge: Charge,
): UpstreamCost | null {
  const { metering, call, services } = metered
  const { report, complete } = end
  return computeUpstreamCost(route.cost, {
    charge,
    usage: report.usage && onlyStated(report.usage),
    passes: report.passes,
    stated: report.statedCost,
    currency: route.cost?.currency ?? call.model.currency,
    facts: factsOf(metered, end),
    channelFacts: channelFactsOf(route, services),
    fallback: () => metering.fallback(call.request, report, complete),
  })
}

/** Facts of how the call was served: the answer's value replaces the requested one. */
const SERVED_FACTS = ['service_tier', 'speed', 'region', 'cache_mode', 'thinking', 'clock'] as const

function factsOf({ quoted, call }: BillableCall, { report }: CallEnd): Facts {
  if (!report.facts) return quoted.facts
  const facts = preferRequested(call.model.prices, quoted.facts, report.facts)
  for (const name of SERVED_FACTS) {
    const served = report.facts[name]
    if (served !== undefined) facts[name] = served
  }
  return facts
}

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
    const charge = complete || isStated ? chargeFor(metered, served, end) : NO_CHARGE
    return {
      charge,
      status: charge.nanos === null ? 'failed' : 'succeeded',
      attempts: served.attempts,
      cost: upstreamCostFor(metered, served, end, charge),
      answer: keepWhole(metered.call, answer, charge),
      usage: report.usage,
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
    const charge = chargeFor(metered, served, callEnd)
    const failed = charge.nanos === null || (!complete && !callerGone)
    return {
      charge,
      status: callerGone ? 'cancelled' : failed ? 'failed' : 'succeeded',
      attempts: served.attempts,
      cost: upstreamCostFor(metered, served, callEnd, charge),
      answer: keepState(metered.call, charge.nanos === null ? 'forget' : 'streamed'),
      usage: report.usage,
      error,
    }
  })
}

/** Counts the text of a call whose upstream did not state both its input and its output. */
async function countUnstated(
  { metering, call }: MeteredCall,
  report: RelayReport,
  answer?: Buffer,
): Promise<RelayReport> {
  const { needs = [], count } = metering
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

interface Outcome {
  readonly charge: Charge
  readonly status: 'succeeded' | 'failed' | 'cancelled'
  readonly attempts: readonly Attempt[]
  readonly cost: UpstreamCost | null
  readonly answer: StoredAnswer | undefined
  /** As the upstream stated it, for metrics and the log. */
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
    // Whether another call pays the sessions is then unknown, so this one is not charged for them.
    unclaimed: {
      ...toSettlement(without(new Set(containers.map(({ id }) => id)))),
      review: true,
    },
  })
  const verdict = await waitFor(metered, settling)
  return chargedOf(settled, verdict, metered)
}

/** Returns what the record has; undefined unless it is this settlement's for certain. */
function chargedOf(
  { charge }: Outcome,
  verdict: SettleVerdict | undefined,
  { call }: MeteredCall,
): Charged | undefined {
  if (verdict !== 'closed' && verdict !== 'corrected') return undefined
  const { nanos, basis, review } = charge
  return { nanos: nanos ?? 0n, currency: call.model.currency, basis, review }
}

/** Counts and logs the outcome of a call and returns its settlement. */
function record(metered: MeteredCall, outcome: Outcome): Settlement {
  const { context, services, call } = metered
  const { charge, cost, status, usage = quantitiesOf(charge) } = outcome
  const { basis, review } = charge
  const { facts } = context
  facts.chargedNanos = charge.nanos ?? 0n
  facts.usage = usage
  metered.spending?.spent(cost?.nanos ?? facts.chargedNanos)
  services.metrics.settled({
    ...callPlaceOf(metered),
    status,
    basis,
    review,
    quantities: usage,
    chargedNanos: facts.chargedNanos,
    upstreamCostNanos: cost?.nanos ?? 0n,
    currency: call.model.currency,
  })
  const fields = { request_id: context.requestId, model: call.model.id }
  if (review) {
    services.log.error(fields, 'the charge differs from the usage that the upstream stated')
  }
  if (cost?.isFarFromUsage) {
    services.metrics.upstreamCostDiffers()
    services.log.warn(fields, 'the cost that the upstream states differs from that of its usage')
  }
  return toSettlement(outcome)
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
