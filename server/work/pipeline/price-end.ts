/**
 * Prices the end of a call. What its answer states is read once, into one value: the charge, the
 * upstream cost, the metrics, the record and the traces all come from it.
 */
import { type Quantities, sumOf, type Unit } from '../../base/lib/units.ts'
import type { Facts } from '../../money/catalog/catalog.ts'
import type { RelayReport } from '../../wire/dialects/relay.ts'
import { channelFactsOf, sentBy, sentFacts } from './hold/sent-facts.ts'
import type { BillableCall } from './hold/take-hold.ts'
import { boundCost } from './price/bound-cost.ts'
import { onlyStated, withoutZeros } from './price/ceiling.ts'
import { type Charge, computeCharge, NO_CHARGE } from './price/charge.ts'
import { withListAmounts } from './price/list-amount.ts'
import { preferRequested } from './price/prefer-requested.ts'
import { computeUpstreamCost, type UpstreamCost } from './price/upstream-cost.ts'
import type { UsableRoute } from './request/find-routes.ts'

export interface CallEnd {
  readonly report: RelayReport
  readonly complete: boolean
  /** True if the caller disconnected: the delivered part is charged on every endpoint. */
  readonly callerGone?: boolean
}

export interface PricedEnd {
  readonly charge: Charge
  readonly cost: UpstreamCost | null
  /** The quantities that the upstream stated; undefined if it stated none. */
  readonly usage: Quantities | undefined
}

/** The end that charge and cost share: its report has only counts that are quantities. */
interface ReadEnd extends CallEnd {
  readonly facts: Facts
  readonly channelFacts: Facts
}

/**
 * Prices the call as if it ended now, for checkpoints and for its real end; if nothing is owed, at
 * zero.
 */
export function priceEnd(
  billable: BillableCall,
  route: UsableRoute,
  end: CallEnd,
  isOwed = true,
): PricedEnd {
  const read = readEnd(billable, route, end)
  const charge = isOwed ? chargeFor(billable, read) : NO_CHARGE
  const cost = upstreamCostFor(billable, route, read, charge)
  return { charge, cost, usage: read.report.usage }
}

function readEnd(billable: BillableCall, route: UsableRoute, end: CallEnd): ReadEnd {
  const report = withoutZeroCost(withoutUnstated(end.report, billable.metering.needs), end)
  const channelFacts = channelFactsOf(route, billable.services)
  const requested = requestedFacts(billable, route, report)
  return { ...end, report, facts: factsOf(billable, requested, end), channelFacts }
}

/** Returns the report without a cost of zero if the answer broke off after some output. */
function withoutZeroCost(report: RelayReport, { complete }: CallEnd): RelayReport {
  const { statedCost, ...others } = report
  const isNothing = !complete && report.outputBytes > 0 && statedCost?.nanos === 0n
  return isNothing ? others : report
}

/** Returns the price conditions of the request, which apply unless the answer states others. */
function requestedFacts(
  { quoted, metering, services }: BillableCall,
  route: UsableRoute,
  report: RelayReport,
): Facts {
  const way = sentBy(metering, route, services)
  const facts = sentFacts(quoted.facts, way, quoted.translatedThinking)
  return facts.cache_mode === 'explicit' && readsAlone(report) ? { ...facts, ...IMPLICIT } : facts
}

const IMPLICIT: Facts = { cache_mode: 'implicit' }

/**
 * Cache reads without a write, and without a statement of the kind of cache, may occur in any
 * request.
 */
function readsAlone({ usage = {} }: RelayReport): boolean {
  return (usage.cached_input_token ?? 0) > 0 && sumOf(usage, WRITES) === 0
}

const WRITES: readonly Unit[] = [
  'cache_write_token',
  'cache_write_5m_token',
  'cache_write_1h_token',
]

/**
 * Returns the report with the quantities that count as stated: whole numbers, and no zero for what
 * was delivered. Other models may have done all of the work.
 */
export function withoutUnstated(report: RelayReport, needs: readonly Unit[] = []): RelayReport {
  const { usage, passes, outputBytes } = report
  if (!usage) return report
  const whole = onlyStated(usage)
  const stated = outputBytes > 0 && !passes?.length ? withoutZeros(whole, needs) : whole
  return stated === usage ? report : { ...report, usage: stated }
}

function chargeFor({ metering, call, quoted }: BillableCall, end: ReadEnd): Charge {
  const { report, facts, channelFacts } = end
  const charge = computeCharge({
    model: call.model,
    facts,
    channelFacts,
    holdNanos: quoted.amountNanos,
    holdEstimate: quoted,
    report,
    complete: end.complete,
    billsBroken: metering.billsBroken || end.callerGone === true,
    needs: metering.needs,
    fallback: (complete) => metering.fallback(call.request, report, complete),
  })
  const { list } = call.model
  return list ? withListAmounts(charge, list.basePrices, { facts, channelFacts }) : charge
}

function upstreamCostFor(
  { metering, call, quoted }: BillableCall,
  { cost }: UsableRoute,
  { report, complete, facts, channelFacts }: ReadEnd,
  charge: Charge,
): UpstreamCost | null {
  const { prices, currency } = call.model
  const isOther = cost !== undefined && cost.currency !== currency
  return computeUpstreamCost(cost, {
    charge,
    usage: report.usage,
    passes: report.passes,
    stated: report.statedCost,
    mostStated: () => {
      const known = [...(isOther ? [] : prices), ...(cost?.entries ?? [])]
      return BigInt(boundCost(known, quoted.ceiling))
    },
    currency: cost?.currency ?? currency,
    facts,
    channelFacts,
    fallback: () => metering.fallback(call.request, report, complete),
  })
}

/** Facts of how the call was served: the answer's value replaces the requested one. */
const SERVED_FACTS = ['service_tier', 'speed', 'region', 'cache_mode', 'thinking', 'clock'] as const

function factsOf({ call }: BillableCall, requested: Facts, { report }: CallEnd): Facts {
  if (!report.facts) return requested
  const facts = preferRequested(call.model.prices, requested, report.facts)
  for (const name of SERVED_FACTS) {
    const served = report.facts[name]
    if (served !== undefined) facts[name] = served
  }
  return facts
}
