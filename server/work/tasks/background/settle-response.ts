/**
 * Settles background responses. The first reader of a final state settles: a worker's poll, a
 * caller's GET, or a caller's stream. The charge is that of a call, by the metering and the quote
 * of the hold.
 */

import { isObject, tryParseJson } from '../../../base/lib/json.ts'
import { redactInternals } from '../../../base/lib/text/redact-internals.ts'
import { claimSessions } from '../../../money/ledger/holds/container-sessions.ts'
import type { RelayReport } from '../../../wire/dialects/relay.ts'
import type { ResponseEnd } from '../../../wire/dialects/responses/read-status.ts'
import type { BillableCall } from '../../pipeline/hold/take-hold.ts'
import type { Body } from '../../pipeline/metering.ts'
import { showSessions, withoutSessions } from '../../pipeline/price/container-sessions.ts'
import { type CallEnd, priceEnd } from '../../pipeline/price-end.ts'
import { rememberAnswer } from '../../pipeline/remember-answer.ts'
import type { UsableRoute } from '../../pipeline/request/find-routes.ts'
import { readTaskBody } from '../call-store.ts'
import { rebuildRequest } from '../calls/call-request.ts'
import type { Engine } from '../engine.ts'
import type { TaskCharge, TaskEnding } from '../finish/charge-task.ts'
import { type FinishOptions, finish } from '../finish/finish.ts'
import { rebuildCall, rebuildRoute } from '../finish/rebuild-call.ts'
import { claimOne } from '../queue-store.ts'
import type { OwnTask } from '../store.ts'
import type { ClaimedTask } from '../task.ts'

/** The end of a response, by the vendor's object or by the report of a stream. */
export type EndedResponse = (
  | { readonly status: ResponseEnd; readonly document: unknown }
  | { readonly status: ResponseEnd; readonly report: RelayReport }
) & {
  /** Replaces the vendor's code and message of a failure. */
  readonly failure?: { readonly code: string; readonly message: string }
}

/** Output bytes per token where no usage is stated. */
const BYTES_PER_TOKEN = 4
const NO_REQUEST = Buffer.from('{}')

/** Claims the task from any holder and settles it. False if it has already ended. */
export async function settleNow(
  engine: Engine,
  row: OwnTask,
  ended: EndedResponse,
): Promise<boolean> {
  const task = await claimOne(engine.sql, row, engine.times.leaseMs)
  return task ? settleClaimed(engine, task, ended) : false
}

/** Settles a claimed task. False when the lease is lost. */
export async function settleClaimed(
  engine: Engine,
  task: ClaimedTask,
  ended: EndedResponse,
  options: FinishOptions = {},
): Promise<boolean> {
  const billable = await rebuildResponse(engine, task)
  const route = await rebuildRoute(engine, task)
  const report = readReport(engine, ended, route, billable)
  const charge = await chargeUnpaid(engine, task, billable, route, { ...ended, report })
  // A cancelled response states no usage, and a vendor may bill what it has made of it.
  const ofCancel = ended.status === 'cancelled' ? 'cancelled' : undefined
  const { unchargedReason = ofCancel, ...rest } = options
  // A charged response has no uncharged cost.
  const isUncharged = unchargedReason !== undefined && charge.nanos === null
  const finishing = { ...rest, charge, ...(isUncharged ? { unchargedReason } : {}) }
  const isEnded = await finish(engine, task, endingOf({ ...ended, report }), finishing)
  if (isEnded) await rememberItems(engine, task, billable, report)
  return isEnded
}

/** Returns the request of an open task; an empty object once it has ended. */
export async function readValue(engine: Engine, { id }: Pick<ClaimedTask, 'id'>): Promise<Body> {
  const value = tryParseJson((await readTaskBody(engine.sql, id)) ?? NO_REQUEST)
  return isObject(value) ? value : {}
}

interface ReadEnd {
  readonly status: ResponseEnd
  readonly report: RelayReport
  readonly failure?: { readonly code: string; readonly message: string }
}

/** Returns a stream's report, or reads the object as its vendor and the request define it. */
function readReport(
  { services }: Engine,
  ended: EndedResponse,
  { target }: UsableRoute,
  { call }: BillableCall,
): RelayReport {
  if ('report' in ended) return ended.report
  const read = services.upstreams.get(target.upstream)?.background?.read
  const report = read?.(ended.document, call.request.value) ?? { outputBytes: 0 }
  return { ...report, finished: true }
}

/** Remembers the tokens and the items of the response, which later requests may name. */
async function rememberItems(
  { services }: Engine,
  task: ClaimedTask,
  { metering, call }: BillableCall,
  report: RelayReport,
): Promise<void> {
  const { upstream_id: id, account_id: accountId, channel_id: channelId, request_id } = task
  const isKept = id !== null && metering.keepsAnswer?.(call.request.value) === true
  const answered = { ...report, ...(id === null ? {} : { answerId: id }) }
  await rememberAnswer(
    { accountId, channelId, requestId: request_id, isStored: isKept, report: answered },
    services,
  )
}

/**
 * Returns the end of a response that is too large to be read. It exceeds its quote, and is charged
 * like an answer without usage of the quoted length.
 */
export function tooLarge(task: ClaimedTask): EndedResponse {
  const outputBytes = (task.quantities.output_token ?? 0) * BYTES_PER_TOKEN
  return { status: 'completed', report: { outputBytes, finished: true } }
}

/** Charges a response without the container sessions that another call pays. */
async function chargeUnpaid(
  { sql }: Engine,
  task: ClaimedTask,
  billable: BillableCall,
  route: UsableRoute,
  end: ReadEnd,
): Promise<TaskCharge> {
  const full = chargeResponse(task, billable, route, end)
  const { containers } = end.report
  if (!containers || full.nanos === null) return full
  const { request_id: requestId, channel_id: channelId } = task
  const paid = await claimSessions(sql, { requestId, channelId, containers })
  if (paid.size === 0) return full
  const report = withoutSessions(end.report, paid)
  return showSessions(chargeResponse(task, billable, route, { ...end, report }), full)
}

function chargeResponse(
  task: ClaimedTask,
  billable: BillableCall,
  route: UsableRoute,
  { status, report }: ReadEnd,
): TaskCharge {
  const complete = status === 'completed' || status === 'incomplete'
  // Output that streams delivered is charged even if the vendor's object lacks it; output that only
  // the object of a failed response shows is not.
  const delivered = Number(task.output_bytes)
  const outputBytes = status === 'failed' ? delivered : Math.max(report.outputBytes, delivered)
  const end: CallEnd = { report: { ...report, outputBytes }, complete }
  const { charge, cost } = priceEnd(billable, route, end)
  return { ...charge, cost }
}

/** Rebuilds the call as it was quoted, at the prices of its hold. */
async function rebuildResponse(engine: Engine, task: ClaimedTask): Promise<BillableCall> {
  const metering = engine.submissions.get(task.endpoint)?.background?.metering
  if (!metering) throw new Error(`no background endpoint ${task.endpoint}`)
  const body = (await readTaskBody(engine.sql, task.id)) ?? NO_REQUEST
  return rebuildCall(engine, task, metering, rebuildRequest(task, metering, body))
}

function endingOf({ status, report, failure }: ReadEnd): TaskEnding {
  if (status === 'completed' || status === 'incomplete') {
    const { usage } = report
    return { state: 'succeeded', result: { status }, usage }
  }
  if (status === 'cancelled') {
    const { code = 'cancelled', message = 'the response was cancelled' } = failure ?? {}
    return { state: 'failed', code, message, cancelled: true }
  }
  const { code = 'response_failed', message = 'the response failed' } =
    failure ?? report.error ?? {}
  return { state: 'failed', code: redactInternals(code), message: redactInternals(message) }
}
