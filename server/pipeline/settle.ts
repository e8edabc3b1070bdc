/** Verb 8: charge what is owed, return the rest, and write the record, in one commit. */

import type { Facts } from '../catalog/catalog.ts'
import type { RelayReport } from '../dialects/relay.ts'
import { timed } from '../http/context.ts'
import type { StoredAnswer } from '../ledger/store.ts'
import { hideInside } from '../lib/text/hide-inside.ts'
import type { UpstreamFailure } from '../upstreams/failure.ts'
import type { Delivered } from './answer/deliver.ts'
import type { WholeAnswer } from './answer/open-answer.ts'
import type { Billable, Metered } from './hold/metered.ts'
import { channelFactsOf } from './hold/quote.ts'
import { onlyStated } from './price/ceiling.ts'
import { type Charge, computeCharge, NOTHING } from './price/charge.ts'
import { type CallCost, computeCost, costOfRefusal } from './price/cost.ts'
import { preferAsked } from './price/prefer-requested.ts'
import type { ResolvedCall } from './request/resolve.ts'
import type { Attempt, DispatchedCall } from './send/dispatch.ts'

/** An answer waits at most this long for its settlement; then it goes out, and that follows. */
const PATIENCE_MS = 3_000
/** Larger answers are not kept for their Idempotency-Key. */
const STORED_BYTES_MAX = 1024 * 1024

export interface Ended {
  readonly report: RelayReport
  readonly complete: boolean
  /** The caller left: what it was sent is owed, whoever's stream it was. */
  readonly callerGone?: boolean
}

/** What would be owed if the call ended here; for checkpoints and for its real end. */
export function chargeFor(
  metered: Billable,
  { route }: Pick<DispatchedCall, 'route'>,
  ended: Ended,
): Charge {
  const { metering, call, hold, quoted, services } = metered
  return computeCharge({
    model: call.model,
    facts: factsOf(metered, ended),
    channelFacts: channelFactsOf(route, services),
    holdNanos: hold.amountNanos,
    held: quoted,
    report: ended.report,
    complete: ended.complete,
    billsBroken: metering.billsBroken || ended.callerGone === true,
    ...(metering.needs ? { needs: metering.needs } : {}),
    fallback: (complete) => metering.fallback(call.request, ended.report, complete),
  })
}

/** What the upstream takes for the same. */
export function costFor(
  metered: Billable,
  { route }: Pick<DispatchedCall, 'route'>,
  ended: Ended,
  charge: Charge,
): CallCost | null {
  const { metering, call, services } = metered
  const { report, complete } = ended
  return computeCost(route.cost, {
    charge,
    usage: report.usage && onlyStated(report.usage),
    passes: report.passes,
    stated: report.statedCost,
    currency: route.cost?.currency ?? call.model.currency,
    facts: factsOf(metered, ended),
    channelFacts: channelFactsOf(route, services),
    fallback: () => metering.fallback(call.request, report, complete),
  })
}

/** What only the answer knows for certain: how the call was served. */
const SERVED = ['service_tier', 'speed', 'region', 'cache_mode', 'thinking', 'clock'] as const

function factsOf({ quoted, call }: Billable, { report }: Ended): Facts {
  if (!report.facts) return quoted.facts
  const facts = preferAsked(call.model.prices, quoted.facts, report.facts)
  for (const name of SERVED) {
    const served = report.facts[name]
    if (served !== undefined) facts[name] = served
  }
  return facts
}

export async function settleWhole(
  metered: Metered,
  answer: WholeAnswer,
  served: DispatchedCall,
): Promise<void> {
  const { report } = answer
  const complete = report.error === undefined
  const ended = { report, complete }
  const charge = complete || report.usage ? chargeFor(metered, served, ended) : NOTHING
  await settle(metered, charge, {
    status: charge.nanos === null ? 'failed' : 'succeeded',
    attempts: served.attempts,
    cost: costFor(metered, served, { report, complete }, charge),
    answer: keepWhole(metered.call, answer, charge),
    ...(report.error ? { error: report.error.message } : {}),
  })
}

export async function settleStream(
  metered: Metered,
  delivered: Delivered,
  served: DispatchedCall,
): Promise<void> {
  const { report, end, callerGone } = delivered
  const complete = end === 'complete'
  const charge = chargeFor(metered, served, { report, complete, callerGone })
  const failed = charge.nanos === null || (!complete && !callerGone)
  const error = report.error?.message ?? (complete ? undefined : `the stream was ${end}`)
  await settle(metered, charge, {
    status: callerGone ? 'cancelled' : failed ? 'failed' : 'succeeded',
    attempts: served.attempts,
    cost: costFor(metered, served, { report, complete }, charge),
    answer: keepState(metered.call, charge.nanos === null ? 'forget' : 'streamed'),
    ...(error === undefined ? {} : { error }),
  })
}

/** Nothing was delivered and nothing is owed: the whole hold goes back. */
export async function release(
  metered: Metered,
  refused: (DispatchedCall & { readonly failure: UpstreamFailure }) | undefined,
  error: string,
): Promise<void> {
  const answer = keepState(metered.call, 'forget')
  const attempts = refused?.attempts ?? []
  const cost = refused ? costOfRefusal(refused.route.cost, refused.failure.kind) : null
  await settle(metered, NOTHING, { status: 'failed', attempts, cost, answer, error })
}

interface Outcome {
  readonly status: 'succeeded' | 'failed' | 'cancelled'
  readonly attempts: readonly Attempt[]
  readonly cost: CallCost | null
  readonly answer: StoredAnswer | undefined
  readonly error?: string
}

async function settle(metered: Metered, charge: Charge, outcome: Outcome): Promise<void> {
  const { context, services, hold, call } = metered
  const { basis, review } = charge
  services.metrics.settled({ basis, review })
  context.facts.chargedNanos = charge.nanos ?? 0n
  if (review) {
    const fields = { request_id: context.requestId, model: call.model.id }
    services.log.error(fields, 'the charge is not what the upstream stated')
  }
  if (outcome.cost?.isSurprising) {
    services.metrics.costDiffers()
    const fields = { request_id: context.requestId, model: call.model.id }
    services.log.warn(fields, 'the cost that the upstream states is not what its usage comes to')
  }
  const settled = services.ledger.settle(hold, {
    chargeNanos: charge.nanos,
    status: outcome.status,
    basis,
    review,
    lines: charge.lines,
    attempts: outcome.attempts,
    cost: outcome.cost,
    ...(outcome.error === undefined ? {} : { error: hideInside(outcome.error).slice(0, 500) }),
    ...(outcome.answer ? { answer: outcome.answer } : {}),
  })
  await timed(context, 'settle', () => patiently(settled, metered))
}

/** The settlement is queued and will be repeated until it is in; only the answer stops waiting. */
async function patiently(settled: Promise<unknown>, { context, services }: Metered): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS)
  })
  const done = settled.catch((error: unknown) => {
    services.log.error({ request_id: context.requestId, error }, 'settlement failed')
  })
  await Promise.race([done, late])
  clearTimeout(timer)
}

function keepState(call: ResolvedCall, state: 'streamed' | 'forget'): StoredAnswer | undefined {
  return call.idempotency ? { ...claimOf(call.idempotency), state } : undefined
}

function claimOf({ key, route, fingerprint }: NonNullable<ResolvedCall['idempotency']>) {
  return { key, route, fingerprint: fingerprint.toString('hex') }
}

/** An error in place of an answer, beside usage that is charged. */
export function isErrorAlone({ error, outputBytes }: RelayReport): boolean {
  return error !== undefined && outputBytes === 0
}

function keepWhole(
  call: ResolvedCall,
  answer: WholeAnswer,
  charge: Charge,
): StoredAnswer | undefined {
  if (!call.idempotency) return undefined
  if (charge.nanos === null) return keepState(call, 'forget')
  if (isErrorAlone(answer.report)) return keepState(call, 'streamed')
  if (answer.body.length > STORED_BYTES_MAX) return keepState(call, 'streamed')
  return {
    ...claimOf(call.idempotency),
    state: 'finished',
    status: answer.status,
    content_type: answer.headers['content-type'] ?? 'application/json',
    body: answer.body.toString('base64'),
  }
}
