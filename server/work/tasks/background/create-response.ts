/**
 * Creates background responses: the verbs of a call up to the sending, but the hold belongs to a
 * task and stays until the response ends. The caller gets the vendor's own answer once the vendor's
 * id is recorded.
 */

import { type Context, timed } from '../../../base/http/context.ts'
import { sendBytes, sendJson } from '../../../base/http/reply.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import { tryParseJson } from '../../../base/lib/json.ts'
import { failpoint } from '../../../base/lib/process/failpoint.ts'
import type { Caller } from '../../../money/accounts/accounts.ts'
import { hideInBody } from '../../../wire/dialects/hide-error.ts'
import { readResponseStatus } from '../../../wire/dialects/responses/read-status.ts'
import { UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import type { StreamAnswer, WholeAnswer } from '../../pipeline/answer/open-answer.ts'
import { quote } from '../../pipeline/hold/quote.ts'
import { admit } from '../../pipeline/hold/take-hold.ts'
import { sendReplay } from '../../pipeline/meter.ts'
import { knownIn, nativeRefusal, toGatewayError } from '../../pipeline/refusal.ts'
import { orderRoutes, type UsableRoute } from '../../pipeline/request/find-routes.ts'
import type { ResolvedCall } from '../../pipeline/request/resolve.ts'
import type { Services } from '../../pipeline/services.ts'
import { type Engine, keepLease } from '../engine.ts'
import { guardUrls, releaseRefused } from '../submit/create-task.ts'
import { createHeldTask } from '../submit/hold-task.ts'
import { accept, recordLostAnswer } from '../submit/submit.ts'
import type { ClaimedTask } from '../task.ts'
import type { BackgroundOrder, BackgroundSubmission } from './background-order.ts'
import { readState } from './fetch-response.ts'
import { followResponse } from './follow-stream.ts'
import { sendByRoutes } from './send-by-routes.ts'
import { settleClaimed } from './settle-response.ts'

/** Larger answers are not kept for their Idempotency-Key. */
const KEPT_BYTES_MAX = 1024 * 1024

/** Creates a response and sends the answer. Rejects with GatewayError for every refusal. */
export async function createBackground(
  engine: Engine,
  context: Context,
  submission: BackgroundSubmission,
  caller: Caller,
  call: ResolvedCall,
): Promise<void> {
  const { services } = engine
  if (await sendReplay(context, caller, call, services)) return
  const parameters = submission.parameters(call.request.value)
  const offered = { ...call, routes: findBackgroundRoutes(call, services) }
  await guardUrls(submission, parameters, engine)
  admit(services)
  const unregister = services.inFlight.add({ abort: () => undefined })
  try {
    const { call: sent, quoted } = quote(submission.background.metering, offered, services)
    const { quantities, facts } = quoted
    const [first, ...rest] = sent.routes.map((route) => {
      return { route, prepared: { quantities, facts } }
    })
    if (!first) throw new GatewayError('upstream_failed')
    const order: BackgroundOrder = {
      context,
      submission,
      caller,
      call: sent,
      parameters,
      quoted,
      plans: [first, ...rest],
    }
    const task = await createHeldTask(engine, order)
    failpoint('task-begun')
    await sendAndAnswer(engine, order, task)
  } finally {
    unregister()
  }
}

/** Throws a 400 that names the field when no channel of the model has background responses. */
function findBackgroundRoutes(call: ResolvedCall, services: Services): readonly UsableRoute[] {
  const routes = call.routes.filter(({ target }) => {
    return services.upstreams.get(target.upstream)?.background?.offeredBy(target.settings) === true
  })
  if (routes.length > 0) return orderRoutes(routes, services, call.affinity)
  throw new GatewayError('invalid_request', {
    message: `background: '${call.model.id}' does not support background responses`,
    param: 'background',
  })
}

async function sendAndAnswer(engine: Engine, order: BackgroundOrder, created: ClaimedTask) {
  const stopRenewal = keepLease(engine, created)
  try {
    const sending = sendByRoutes(engine, order, created)
    const outcome = await timed(order.context, 'upstream', () => sending)
    const { task } = outcome
    order.context.facts.channel = task.channel_id
    if ('failure' in outcome) await refuse(engine, order, task, outcome.failure)
    else if (outcome.answer.kind === 'whole') {
      await answerWhole(engine, order, task, outcome.answer, stopRenewal)
    } else await answerStream(engine, order, task, outcome.answer, stopRenewal)
  } finally {
    stopRenewal()
  }
}

async function refuse(
  engine: Engine,
  order: BackgroundOrder,
  task: ClaimedTask,
  failure: UpstreamFailure,
): Promise<void> {
  if (failure.kind === 'unknown') {
    await answerLost(engine, order, task, failure)
    return
  }
  const { body } = order.call.request
  const error = toGatewayError(failure, body)
  await releaseRefused(engine, task, failure, error.message)
  const native = nativeRefusal(order.submission.background.metering, failure, body)
  if (!native) throw error
  order.context.facts.outcome = 'refused_upstream'
  const headers = { 'content-type': native.contentType, 'x-should-retry': 'false' }
  sendBytes(order.context, native.status, headers, native.body)
}

/**
 * Answers a creation of unknown outcome. A caller that waits for a stream gets an error that says
 * not to retry; any other gets our id of the task.
 */
async function answerLost(
  engine: Engine,
  { context, submission, call }: BackgroundOrder,
  task: ClaimedTask,
  failure: UpstreamFailure,
): Promise<void> {
  const current = await recordLostAnswer(engine, task, failure, 'none')
  if (call.request.stream) throw toGatewayError(failure)
  context.facts.outcome = 'answer_lost'
  sendJson(context, 200, submission.answer(current))
}

async function answerWhole(
  engine: Engine,
  order: BackgroundOrder,
  task: ClaimedTask,
  answer: WholeAnswer,
  stopRenewal: () => void,
): Promise<void> {
  const { body, report } = answer
  const shown = hideInBody(body, knownIn(order.call.request.body))
  const document = tryParseJson(body)
  const hasEnded = !['queued', 'in_progress'].includes(readResponseStatus(document) ?? '')
  const { answerId } = report
  if (answerId === undefined && !hasEnded) {
    const failure = new UpstreamFailure('unknown', { message: 'no id in the answer' })
    return answerLost(engine, order, task, failure)
  }
  let current = task
  if (answerId !== undefined) {
    const kept = { body: shown.length <= KEPT_BYTES_MAX ? shown : undefined }
    const accepted = await accept(engine, task, answerId, { answer: kept })
    if (accepted instanceof UpstreamFailure) return answerLost(engine, order, task, accepted)
    current = accepted
    stopRenewal()
    await rememberResponse(engine, order, current, answerId)
  }
  // A vendor without background mode has already done the work; settle at once.
  if (hasEnded) await settleWhole(engine, current, answer)
  sendBytes(order.context, answer.status, answer.headers, shown)
}

/** Settles an ended response. An object without a status is complete: its vendor states none. */
async function settleWhole(engine: Engine, task: ClaimedTask, answer: WholeAnswer): Promise<void> {
  const document = tryParseJson(answer.body)
  const vendor = readResponseStatus(document) === undefined ? undefined : readState(document)
  const status = answer.report.error ? 'failed' : 'completed'
  const ended =
    vendor?.state === 'ended' ? vendor.ended : ({ status, report: answer.report } as const)
  await settleClaimed(engine, task, ended, { attempt: { state: 'answered' } })
}

async function answerStream(
  engine: Engine,
  order: BackgroundOrder,
  task: ClaimedTask,
  opened: StreamAnswer,
  stopRenewal: () => void,
): Promise<void> {
  const acceptId = async (id: string): Promise<ClaimedTask | undefined> => {
    const current = await accept(engine, task, id, { answer: { body: undefined } })
    stopRenewal()
    if (current instanceof UpstreamFailure) return undefined
    await rememberResponse(engine, order, current, id)
    return current
  }
  const { answer, accepted } = watchForId(opened, acceptId)
  // Usually the first event has the id; the response can then be resumed after any failure.
  await accepted().catch((error: unknown) => {
    opened.body.destroy()
    throw error
  })
  const delivered = await followResponse(engine, order.context, answer, {
    task,
    bytesBefore: 0,
  })
  if (await accepted()) return
  const { report, end } = delivered
  const failure = new UpstreamFailure('unknown', { message: `a stream without an id was ${end}` })
  if (report.outputBytes === 0 && !report.usage) {
    await recordLostAnswer(engine, task, failure, 'none')
    return
  }
  // Without an id it cannot be fetched: settle by the delivered output.
  const status = report.error || end !== 'complete' ? 'failed' : 'completed'
  const attempt = { state: 'answered' } as const
  const delivering = { ...task, output_bytes: BigInt(report.outputBytes) }
  await settleClaimed(engine, delivering, { status, report }, { attempt })
}

/** Records a response that the vendor stores, so that later requests can refer to it. */
async function rememberResponse(
  { services }: Engine,
  { submission, call, caller }: BackgroundOrder,
  task: ClaimedTask,
  id: string,
): Promise<void> {
  if (!submission.background.metering.keepsAnswer?.(call.request.value)) return
  const { accountId } = caller
  try {
    await services.storedAnswers.remember({
      id,
      accountId,
      channelId: task.channel_id,
      tokens: null,
    })
  } catch (error) {
    services.log.warn({ task_id: task.id, error }, 'a stored response was not recorded')
  }
}

/**
 * Returns the stream with a relay that watches for the response's id. Calls `onId` once with it;
 * `accepted` resolves with its outcome, or with undefined while no event had an id.
 */
function watchForId<T>(
  answer: StreamAnswer,
  onId: (id: string) => Promise<T | undefined>,
): { readonly answer: StreamAnswer; readonly accepted: () => Promise<T | undefined> } {
  const { relay } = answer
  let accepting: Promise<T | undefined> | undefined
  const readId = () => {
    const { answerId } = relay.report()
    if (accepting || answerId === undefined) return
    accepting = onId(answerId)
    // `accepted` rejects with the error; until it is called, the rejection must not be unhandled.
    accepting.catch(() => undefined)
  }
  readId()
  const watched: StreamAnswer['relay'] = {
    push(chunk) {
      const out = relay.push(chunk)
      readId()
      return out
    },
    end() {
      const out = relay.end()
      readId()
      return out
    },
    fail: (failure) => relay.fail(failure),
    report: () => relay.report(),
    heldBytes: () => relay.heldBytes?.() ?? 0,
  }
  return { answer: { ...answer, relay: watched }, accepted: async () => accepting }
}
