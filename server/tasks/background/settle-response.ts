/**
 * The end of a background response. Whoever reads a final state first settles: the worker that
 * polls, a caller's GET, or the stream that a caller follows. The charge is that of a call, by the
 * metering and the quote under which the hold was taken.
 */
import { readPrices } from '../../catalog/load/load-model.ts'
import type { RelayReport } from '../../dialects/relay.ts'
import type { ResponseEnd } from '../../dialects/responses/read-status.ts'
import { isObject, tryParseJson } from '../../lib/json.ts'
import { hideInside } from '../../lib/text/hide-inside.ts'
import type { Billable } from '../../pipeline/hold/metered.ts'
import type { Quote } from '../../pipeline/hold/quote.ts'
import { countReportedTokens } from '../../pipeline/meter.ts'
import type { Body } from '../../pipeline/metering.ts'
import type { ResolvedCall, UsableRoute } from '../../pipeline/request/resolve.ts'
import { chargeFor, costFor, type Ended } from '../../pipeline/settle.ts'
import { UpstreamFailure } from '../../upstreams/failure.ts'
import { readTaskBody } from '../call-store.ts'
import { rebuildRequest } from '../calls/call-request.ts'
import { type Engine, openChannel } from '../engine.ts'
import { isStored, type TaskCharge, type TaskEnding } from '../finish/charge-task.ts'
import { type FinishOptions, finish } from '../finish/finish.ts'
import { claimOne } from '../queue-store.ts'
import type { ClaimedTask } from '../task.ts'

/** How a response ended, as its vendor says it: by its object, or as a stream was read. */
export type EndedResponse = (
  | { readonly status: ResponseEnd; readonly document: unknown }
  | { readonly status: ResponseEnd; readonly report: RelayReport }
) & {
  /** Replaces the vendor's code and message of a failure. */
  readonly failure?: { readonly code: string; readonly message: string }
}

/** Bytes of output that stand for one token where no usage is stated. */
const BYTES_PER_TOKEN = 4
const NO_REQUEST = Buffer.from('{}')

/** Takes the task from whoever has it and settles. False when it has ended already. */
export async function settleNow(
  engine: Engine,
  taskId: string,
  ended: EndedResponse,
): Promise<boolean> {
  const task = await claimOne(engine.sql, taskId, engine.times.leaseMs)
  return task ? settleClaimed(engine, task, ended) : false
}

/** Settles a task whose lease this process holds. False when it has lost it. */
export async function settleClaimed(
  engine: Engine,
  task: ClaimedTask,
  ended: EndedResponse,
  options: FinishOptions = {},
): Promise<boolean> {
  const billable = await rebuildCall(engine, task)
  const route = await rebuildRoute(engine, task)
  const report = readReport(engine, ended, route, billable)
  const charge = chargeResponse(task, billable, route, { ...ended, report })
  const { unchargedReason, ...rest } = options
  // What somebody pays for is nobody's loss.
  const isLost = unchargedReason !== undefined && charge.nanos === null
  const finishing = { ...rest, charge, ...(isLost ? { unchargedReason } : {}) }
  const done = await finish(engine, task, endingOf({ ...ended, report }), finishing)
  if (done) await rememberTokens(engine, task, billable, report)
  return done
}

/** The request of a task that is open; of one that has ended nothing is known any more. */
export async function readValue(engine: Engine, { id }: Pick<ClaimedTask, 'id'>): Promise<Body> {
  const value = tryParseJson((await readTaskBody(engine.sql, id)) ?? NO_REQUEST)
  return isObject(value) ? value : {}
}

interface ReadEnd {
  readonly status: ResponseEnd
  readonly report: RelayReport
  readonly failure?: { readonly code: string; readonly message: string }
}

/** How an object is read depends on its vendor and on what was asked. */
function readReport(
  { services }: Engine,
  ended: EndedResponse,
  { target }: UsableRoute,
  { call }: Billable,
): RelayReport {
  if ('report' in ended) return ended.report
  const read = services.upstreams.get(target.upstream)?.background?.read
  const reading = read?.(ended.document, call.request.value) ?? { outputBytes: 0 }
  return { ...reading, finished: true }
}

/** What a request that builds on this response has as input again. */
async function rememberTokens(
  { services }: Engine,
  task: ClaimedTask,
  { metering, call }: Billable,
  report: RelayReport,
): Promise<void> {
  const { upstream_id: id, account_id: accountId, channel_id: channelId } = task
  const tokens = countReportedTokens(report)
  if (id === null || tokens === null || !metering.keepsAnswer?.(call.request.value)) return
  try {
    await services.storedAnswers.remember({ id, accountId, channelId, tokens })
  } catch (error) {
    services.log.warn({ task_id: task.id, error }, 'the tokens of a response are not noted')
  }
}

/**
 * An answer that is too large to be read has more output than was quoted: it is charged as an
 * answer without usage that was as long as the hold allows.
 */
export function tooLarge(task: ClaimedTask): EndedResponse {
  const outputBytes = (task.quantities.output_token ?? 0) * BYTES_PER_TOKEN
  return { status: 'completed', report: { outputBytes, finished: true } }
}

function chargeResponse(
  task: ClaimedTask,
  billable: Billable,
  route: UsableRoute,
  { status, report }: ReadEnd,
): TaskCharge {
  const complete = status === 'completed' || status === 'incomplete'
  // What streams have delivered is owed even if the vendor shows nothing of it afterwards; what a
  // failed response shows only now was no use to anybody.
  const delivered = Number(task.output_bytes)
  const outputBytes = status === 'failed' ? delivered : Math.max(report.outputBytes, delivered)
  const ended: Ended = { report: { ...report, outputBytes }, complete }
  const charge = chargeFor(billable, { route }, ended)
  return { ...charge, cost: costFor(billable, { route }, ended, charge) }
}

/** The call as it was quoted, at the prices of its hold. */
async function rebuildCall(engine: Engine, task: ClaimedTask): Promise<Billable> {
  const metering = engine.submissions.get(task.endpoint)?.background?.metering
  if (!metering) throw new Error(`no background work is known as ${task.endpoint}`)
  const body = (await readTaskBody(engine.sql, task.id)) ?? NO_REQUEST
  const { quantities, facts, hold_amount: amountNanos } = task
  const quote = { quantities, facts, ...task.quote }
  return {
    metering,
    call: { model: modelOf(engine, task), request: rebuildRequest(task, metering, body) },
    hold: { amountNanos },
    quoted: { ...quote, amountNanos } as Quote,
    services: engine.services,
  }
}

function modelOf({ services }: Engine, task: ClaimedTask): ResolvedCall['model'] {
  const prices = readPrices(isStored(task.prices) ? task.prices : [])
  const known = services.catalog.snapshot().models.get(task.model)
  const { price_version: priceVersion } = task
  return {
    id: task.model,
    type: 'chat',
    limits: {},
    routes: [],
    currency: '',
    details: {},
    plannedPrices: [],
    updatedAt: task.created_at,
    ...known,
    free: task.prices === null,
    prices,
    priceVersion,
  }
}

/** The route that has it, with its costs of then. */
async function rebuildRoute(engine: Engine, task: ClaimedTask): Promise<UsableRoute> {
  const {
    channel_id: channel,
    upstream_model: upstreamModel,
    upstream_cost_version: version,
  } = task
  const entries = isStored(task.costs) ? readPrices(task.costs) : undefined
  const target = await openChannel(engine, task).catch((error: unknown) => {
    // A channel that is gone charges nothing differently: only its settings are not known.
    if (!(error instanceof UpstreamFailure)) throw error
    return { id: channel, upstream: '', version: task.channel_version, settings: {} }
  })
  return {
    channel,
    upstreamModel,
    target,
    priority: 0,
    weight: 1,
    ...(entries && version !== null ? { cost: { version, currency: '', entries } } : {}),
  }
}

function endingOf({ status, report, failure }: ReadEnd): TaskEnding {
  if (status === 'completed' || status === 'incomplete') {
    const { usage } = report
    return { state: 'succeeded', result: { status }, ...(usage ? { usage } : {}) }
  }
  if (status === 'cancelled') {
    const { code = 'cancelled', message = 'the response was cancelled' } = failure ?? {}
    return { state: 'failed', code, message, cancelled: true }
  }
  const { code = 'response_failed', message = 'the response failed' } =
    failure ?? report.error ?? {}
  return { state: 'failed', code: hideInside(code), message: hideInside(message) }
}
