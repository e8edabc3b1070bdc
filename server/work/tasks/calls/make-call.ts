/**
 * Runs deferred calls: tasks whose work is one synchronous upstream call. A claim makes at most one
 * attempt, committed before it is sent. After an unknown outcome there is no other attempt: the
 * hold is released, and the upstream's possible cost is recorded.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { withTransaction } from '../../../base/database/transaction.ts'
import { isUnavailable } from '../../../base/database/unavailable.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import { failpoint } from '../../../base/lib/process/failpoint.ts'
import { InvalidRequest } from '../../../wire/dialects/invalid-request.ts'
import type { RelayReport } from '../../../wire/dialects/relay.ts'
import { UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import type { CallRequest, UpstreamAnswer } from '../../../wire/upstreams/upstream.ts'
import type { ResultContent } from '../../assets/library/keep-content.ts'
import { openAnswer, type WholeAnswer } from '../../pipeline/answer/open-answer.ts'
import { type AnswerRoom, openRoom } from '../../pipeline/answer/receive-whole.ts'
import { priceEnd } from '../../pipeline/price-end.ts'
import { toGatewayError } from '../../pipeline/refusal.ts'
import { reportAttempt } from '../../pipeline/send/dispatch.ts'
import { markCalling, readTaskBody } from '../call-store.ts'
import { type Engine, logTask, openTaskWire } from '../engine.ts'
import type { TaskCharge, TaskEnding } from '../finish/charge-task.ts'
import { type FinishOptions, finish } from '../finish/finish.ts'
import { rebuildCall, rebuildRoute } from '../finish/rebuild-call.ts'
import type { PollOutcome } from '../next-poll.ts'
import { cooldownMs, retryPollMs } from '../schedule.ts'
import { endAttempt, rescheduleTask } from '../store.ts'
import type { DeferredCall } from '../submission.ts'
import type { ClaimedTask } from '../task.ts'
import { addEvent } from '../timeline-store.ts'
import { type CallTarget, findCallTarget, moveToNextRoute, rebuildRequest } from './call-request.ts'
import { readCallAnswer } from './read-call-answer.ts'
import { untilStopped } from './until-stopped.ts'

const ATTEMPTS_MAX = 3
/** With pauses that double, half a minute in all. */
const FINISH_TRIES = 7
const FINISH_PAUSE_MS = 250

/** Runs one claim: makes the call, or ends a call whose process died. */
export async function makeCall(
  engine: Engine,
  claimed: ClaimedTask,
  call: DeferredCall,
): Promise<PollOutcome> {
  const { attempt_state: state } = claimed
  if (state === 'sending' || state === 'unknown') {
    await giveUp(engine, claimed, 'the process of the call ended before its answer')
    return {}
  }
  if (claimed.expired) {
    await fail(engine, claimed, 'task_expired', 'the task was not started in time')
    return {}
  }
  const body = await readTaskBody(engine.sql, claimed.id)
  const task = state === 'refused' ? await moveToNextRoute(engine, claimed, call) : claimed
  if (!body || !task) {
    await fail(engine, claimed, 'not_submitted', 'no upstream serves this model any longer')
    return {}
  }
  const request = rebuildRequest(task, call.metering, body)
  const room = openRoom(engine.services, task.account_id)
  try {
    const outcome = await attempt(engine, task, call, request, room)
    if (outcome instanceof UpstreamFailure) {
      return await handleRefusal(engine, task, request, outcome)
    }
    await conclude(engine, task, call, request, outcome)
    return {}
  } finally {
    room.release()
  }
}

/** Makes one attempt. Returns the answer, or why there is none. */
async function attempt(
  engine: Engine,
  task: ClaimedTask,
  { metering }: DeferredCall,
  request: CallRequest,
  room: AnswerRoom,
): Promise<WholeAnswer | UpstreamFailure> {
  let target: CallTarget
  try {
    target = await findCallTarget(engine, task, metering)
  } catch (error) {
    if (error instanceof UpstreamFailure) return error
    throw error
  }
  failpoint('call-held')
  await commitSending(engine, task)
  failpoint('call-sending')
  const outcome = await send(engine, task, target, request, room)
  failpoint('call-answered')
  const failure = outcome instanceof UpstreamFailure ? outcome : undefined
  reportAttempt({ channel: task.channel_id }, failure, engine.services, task)
  return outcome
}

/** Commits that the call is about to be sent. Rejects when the lease is lost. */
async function commitSending(engine: Engine, task: ClaimedTask): Promise<void> {
  await withTransaction(engine.sql, async (transaction) => {
    if (!(await markCalling(transaction, task))) throw new Error('the lease of a task was lost')
    if (task.state === 'queued') await addEvent(transaction, task.id, 'processing')
  })
  if (task.state === 'queued') logTask(engine, task, 'task changed', { status: 'processing' })
}

/** Sends the call. When the gateway stops first, the outcome is unknown. */
async function send(
  engine: Engine,
  task: ClaimedTask,
  { adapter, settings, timeoutMs }: CallTarget,
  request: CallRequest,
  room: AnswerRoom,
): Promise<WholeAnswer | UpstreamFailure> {
  const { services } = engine
  const wire = openTaskWire(engine, task, timeoutMs, 2 * timeoutMs)
  const upstreamModel = task.upstream_model
  const answered = adapter(wire, { settings, upstreamModel, request }).then((answer) =>
    readWhole(answer, room),
  )
  return untilStopped(services, answered).catch(toFailure)
}

async function readWhole(answer: UpstreamAnswer, room: AnswerRoom): Promise<WholeAnswer> {
  const opened = await openAnswer({ ...answer, stream: false }, room)
  if (opened.kind === 'whole') return opened
  throw new UpstreamFailure('unknown', { message: 'an unrequested stream' })
}

/** Maps an error to a failure; any unexpected one is `unknown`: the upstream may have worked. */
export function toFailure(error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error
  if (error instanceof InvalidRequest) {
    return new UpstreamFailure('rejected', { message: error.message, cause: error })
  }
  return new UpstreamFailure('unknown', { cause: error })
}

/** After a refusal, reschedules the task for its next route, or fails it. */
async function handleRefusal(
  engine: Engine,
  task: ClaimedTask,
  { body }: CallRequest,
  failure: UpstreamFailure,
): Promise<PollOutcome> {
  const { message = failure.kind, status, retryAfterSeconds } = failure.details
  if (failure.kind === 'unknown') {
    await giveUp(engine, task, message)
    return {}
  }
  const isLast = failure.kind === 'rejected' || task.attempt_number >= ATTEMPTS_MAX
  const attempt = { state: 'refused', failure: message, status } as const
  if (isLast) {
    const code = failure.details.code ?? failure.kind
    const publicMessage = toGatewayError(failure, body).message
    await fail(engine, task, code, publicMessage, { attempt })
    return {}
  }
  const dueInMs = retryPollMs(task.failures, engine.times, retryAfterSeconds)
  await withTransaction(engine.sql, async (transaction) => {
    await endAttempt(transaction, task.attempt_id, attempt)
    const { channel_id: channel } = task
    await addEvent(transaction, task.id, 'attempt_refused', { channel, reason: failure.kind })
    const state = task.state === 'queued' ? 'processing' : task.state
    await rescheduleTask(transaction, task, { state, dueInMs, failed: true, gone: false })
  })
  return failure.kind === 'busy' ? { cooldownMs: cooldownMs(retryAfterSeconds) } : {}
}

/** Ends the task with the call's answer. Content that cannot be stored is not charged. */
async function conclude(
  engine: Engine,
  task: ClaimedTask,
  call: DeferredCall,
  request: CallRequest,
  answer: WholeAnswer,
): Promise<void> {
  const attempt = { state: 'answered' } as const
  let contents: readonly ResultContent[] = []
  try {
    const read = await readCallAnswer(engine, task, call, request, answer)
    contents = read.contents
    const { ending, galleryDetails } = read
    const charge = await chargeCall(engine, task, call, request, ending, answer.report)
    const kept = { attempt, contents, galleryDetails, ...(charge ? { charge } : {}) }
    if (await finishPatiently(engine, task, ending, kept)) return
    await discard(engine, contents)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    await discard(engine, contents)
    await fail(engine, task, 'not_stored', error.message, {
      attempt,
      unchargedReason: 'not_stored',
    })
  }
}

/** Charges the answer as that of a call; undefined for an answer without a result. */
async function chargeCall(
  engine: Engine,
  task: ClaimedTask,
  { metering }: DeferredCall,
  request: CallRequest,
  { state }: TaskEnding,
  report: RelayReport,
): Promise<TaskCharge | undefined> {
  if (state === 'failed') return undefined
  const billable = rebuildCall(engine, task, metering, request)
  const route = await rebuildRoute(engine, task)
  const { charge, cost } = priceEnd(billable, route, { report, complete: true })
  return { ...charge, basis: charge.basis === 'estimate' ? 'params' : charge.basis, cost }
}

/**
 * Ends the task as `finish` does, and retries while the database is slow or unavailable: the answer
 * is paid for, and no other process has it. Returns false if the lease is lost and nothing was
 * kept.
 */
async function finishPatiently(
  engine: Engine,
  task: ClaimedTask,
  ending: TaskEnding,
  options: FinishOptions,
): Promise<boolean> {
  for (let failures = 0; ; failures += 1) {
    try {
      // A commit whose outcome was lost has ended the task, with its contents.
      return (await finish(engine, task, ending, options)) || failures > 0
    } catch (error) {
      if (!isUnavailable(error) || failures >= FINISH_TRIES) throw error
      engine.services.log.warn({ task_id: task.id, error }, 'an answer is kept again')
      await sleep(FINISH_PAUSE_MS * 2 ** failures)
    }
  }
}

async function discard({ ports }: Engine, contents: readonly ResultContent[]): Promise<void> {
  for (const content of contents) await ports.discardContent(content)
}

async function giveUp(engine: Engine, task: ClaimedTask, failure: string): Promise<void> {
  const message = 'the upstream’s answer was lost; nothing was charged: create the task again'
  await fail(engine, task, 'answer_lost', message, {
    attempt: { state: 'given_up', failure },
    unchargedReason: 'unknown_submit',
  })
}

async function fail(
  engine: Engine,
  task: ClaimedTask,
  code: string,
  message: string,
  options: FinishOptions = {},
): Promise<void> {
  const ending: TaskEnding = { state: 'failed', code, message }
  await finish(engine, task, ending, options)
}
