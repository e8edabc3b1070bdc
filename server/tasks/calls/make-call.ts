/**
 * A task whose work is one call of an upstream that answers with the work itself. A claim makes at
 * most one attempt, noted before its first byte; after one whose outcome nobody knows there is no
 * other: the caller gets the money back, and what the upstream may bill is noted.
 */
import { withTransaction } from '../../database/transaction.ts'
import { InvalidRequest } from '../../dialects/invalid-request.ts'
import { GatewayError } from '../../lib/errors.ts'
import { failpoint } from '../../lib/failpoint.ts'
import { openAnswer, type WholeAnswer } from '../../pipeline/answer/open-answer.ts'
import { toGatewayError } from '../../pipeline/refusal.ts'
import { note } from '../../pipeline/send/dispatch.ts'
import { UpstreamFailure } from '../../upstreams/failure.ts'
import type { CallRequest, UpstreamAnswer } from '../../upstreams/upstream.ts'
import { markCalling, readTaskBody } from '../call-store.ts'
import { type Engine, openTaskWire } from '../engine.ts'
import type { TaskEnding } from '../finish/charge-task.ts'
import { type FinishOptions, finish } from '../finish/finish.ts'
import type { PollOutcome } from '../next-poll.ts'
import { cooldownMs, retryPollMs } from '../schedule.ts'
import { endAttempt, rescheduleTask } from '../store.ts'
import type { DeferredCall } from '../submission.ts'
import type { ClaimedTask } from '../task.ts'
import { addEvent } from '../timeline-store.ts'
import { type CallTarget, findCallTarget, moveOn, rebuildRequest } from './call-request.ts'
import { readCallAnswer } from './read-call-answer.ts'
import { untilStopped } from './until-stopped.ts'

const ATTEMPTS_MAX = 3

/** One claim of such a task: its call, or the end of a call whose process died. */
export async function makeCall(
  engine: Engine,
  claimed: ClaimedTask,
  call: DeferredCall,
): Promise<PollOutcome> {
  const { attempt_state: state } = claimed
  if (state === 'sending' || state === 'unknown') {
    await giveUp(engine, claimed, 'the process that made the call ended before its answer')
    return {}
  }
  if (claimed.expired) {
    await fail(engine, claimed, 'task_expired', 'the task was not begun in time')
    return {}
  }
  const body = await readTaskBody(engine.sql, claimed.id)
  const task = state === 'refused' ? await moveOn(engine, claimed, call) : claimed
  if (!body || !task) {
    await fail(engine, claimed, 'not_submitted', 'no upstream serves this model any more')
    return {}
  }
  const request = rebuildRequest(task, call.metering, body)
  const outcome = await attempt(engine, task, call, request)
  if (outcome instanceof UpstreamFailure) return refused(engine, task, request, outcome)
  await conclude(engine, task, call, request, outcome)
  return {}
}

/** The answer, or why there is none. */
async function attempt(
  engine: Engine,
  task: ClaimedTask,
  { metering }: DeferredCall,
  request: CallRequest,
): Promise<WholeAnswer | UpstreamFailure> {
  let target: CallTarget
  try {
    target = await findCallTarget(engine, task, metering)
  } catch (error) {
    if (error instanceof UpstreamFailure) return error
    throw error
  }
  failpoint('call-held')
  await begin(engine, task)
  failpoint('call-sending')
  const outcome = await send(engine, task, target, request)
  failpoint('call-answered')
  const failure = outcome instanceof UpstreamFailure ? outcome : undefined
  note({ channel: task.channel_id }, failure, engine.services)
  return outcome
}

async function begin(engine: Engine, task: ClaimedTask): Promise<void> {
  await withTransaction(engine.sql, async (transaction) => {
    if (!(await markCalling(transaction, task))) throw new Error('the lease of a task was lost')
    if (task.state === 'queued') await addEvent(transaction, task.id, 'processing')
  })
}

/** A stop of the process leaves the outcome unknown. */
async function send(
  engine: Engine,
  task: ClaimedTask,
  { adapter, settings, timeoutMs }: CallTarget,
  request: CallRequest,
): Promise<WholeAnswer | UpstreamFailure> {
  const { services } = engine
  const wire = openTaskWire(engine, task, timeoutMs, 2 * timeoutMs)
  const upstreamModel = task.upstream_model
  const answered = adapter(wire, { settings, upstreamModel, request }).then((answer) =>
    readWhole(answer, services.limits.answerBytesMax),
  )
  return untilStopped(services, answered).catch(toFailure)
}

async function readWhole(answer: UpstreamAnswer, bytesMax: number): Promise<WholeAnswer> {
  const opened = await openAnswer({ ...answer, stream: false }, bytesMax)
  if (opened.kind === 'whole') return opened
  throw new UpstreamFailure('unknown', { message: 'a stream that was not asked for' })
}

/** Whatever else went wrong, the request may have been carried out. */
export function toFailure(error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error
  if (error instanceof InvalidRequest) {
    return new UpstreamFailure('rejected', { message: error.message, cause: error })
  }
  return new UpstreamFailure('unknown', { cause: error })
}

/** A clear refusal: another attempt later, by another route where there is one, or the end. */
async function refused(
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
  const end = { state: 'refused', failure: message, status } as const
  if (isLast) {
    const code = failure.details.code ?? failure.kind
    const publicMessage = toGatewayError(failure, body).message
    await fail(engine, task, code, publicMessage, { attempt: end })
    return {}
  }
  const dueInMs = retryPollMs(task.failures, engine.times, retryAfterSeconds)
  await withTransaction(engine.sql, async (transaction) => {
    await endAttempt(transaction, task.attempt_id, end)
    const { channel_id: channel } = task
    await addEvent(transaction, task.id, 'attempt_refused', { channel, reason: failure.kind })
    const state = task.state === 'queued' ? 'processing' : task.state
    await rescheduleTask(transaction, task, { state, dueInMs, failed: true, gone: false })
  })
  return failure.kind === 'busy' ? { cooldownMs: cooldownMs(retryAfterSeconds) } : {}
}

/** From the answer to the task's end. What cannot be kept was not delivered and is not charged. */
async function conclude(
  engine: Engine,
  task: ClaimedTask,
  call: DeferredCall,
  request: CallRequest,
  answer: WholeAnswer,
): Promise<void> {
  const attempt = { state: 'answered' } as const
  try {
    const { ending, kept, remembered } = await readCallAnswer(engine, task, call, request, answer)
    const done = await finish(engine, task, ending, { attempt, kept, remembered })
    if (!done) for (const one of kept) await engine.ports.discard?.(one)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    await fail(engine, task, 'not_stored', error.message, {
      attempt,
      unchargedReason: 'not_stored',
    })
  }
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
