/** Applies the result of a poll, and schedules the next poll while the task is open. */
import { FAILURES_STATED } from '../../money/usage/operating-store.ts'
import { UpstreamFailure } from '../../wire/upstreams/failure.ts'
import { type Engine, fieldsOfTask, logTask } from './engine.ts'
import { cooldownMs, nextPollMs, retryPollMs } from './schedule.ts'
import { type Reschedule, rescheduleTask } from './store.ts'
import { type ClaimedTask, laterState } from './task.ts'
import { addEvent } from './timeline-store.ts'

export interface PollOutcome {
  /** Cooldown of the whole queue partition, when the upstream is busy. */
  readonly cooldownMs?: number
}

/** The result of a poll. `gone`: the upstream does not know the task. */
export type Polled =
  | { readonly state: 'queued' | 'processing' | 'gone' }
  | {
      readonly state: 'ended'
      /** Ends the task. False if that needs another poll, for example for a follow-up call. */
      readonly end: () => Promise<boolean>
    }

/** Work that an upstream has accepted and has not finished. */
export interface UpstreamWork {
  /** Rejects with UpstreamFailure if the upstream states nothing. */
  poll(engine: Engine, task: ClaimedTask): Promise<Polled>
  /** Ends a task that its upstream has not known for a while, or since our cancel. */
  whenGone(engine: Engine, task: ClaimedTask): Promise<void>
  /** Ends a task that has not ended in time. */
  whenExpired(engine: Engine, task: ClaimedTask): Promise<void>
}

/** Polls a claimed task. A poll that fails is retried; it never fails the task. */
export async function pollWork(
  engine: Engine,
  task: ClaimedTask,
  work: UpstreamWork,
): Promise<PollOutcome> {
  let polled: Polled
  try {
    polled = await work.poll(engine, task)
  } catch (error) {
    return retryPoll(engine, task, work, error)
  }
  return applyPolled(engine, task, work, polled)
}

/** Applies the result of a poll. An error while the task is ended is not a failed poll. */
export async function applyPolled(
  engine: Engine,
  task: ClaimedTask,
  work: UpstreamWork,
  polled: Polled,
): Promise<PollOutcome> {
  if (polled.state === 'ended') {
    if (await polled.end()) return {}
    return retryPoll(engine, task, work, new UpstreamFailure('failed'))
  }
  if (polled.state === 'gone') {
    const goneMs = task.cancel_sent_at === null ? (task.gone_ms ?? 0) : Number.POSITIVE_INFINITY
    const isOver = task.expired || goneMs >= engine.times.goneMs
    if (isOver) await work.whenGone(engine, task)
    else await rescheduleFailed(engine, task, { gone: true })
    return {}
  }
  if (task.expired) await work.whenExpired(engine, task)
  else await rescheduleOpenTask(engine, task, polled.state)
  return {}
}

/** Reschedules an open task in the state that the upstream reported. */
async function rescheduleOpenTask(
  engine: Engine,
  task: ClaimedTask,
  reported: 'queued' | 'processing',
): Promise<void> {
  const state = laterState(task.state, reported)
  // After a vendor callback, polls only cover the loss of further ones: use the longest interval.
  const ageMs = task.callback_count > 0 ? Number.POSITIVE_INFINITY : task.age_ms
  const dueInMs = nextPollMs(ageMs, engine.times)
  const next = { state, dueInMs, failed: false, gone: false }
  const isRescheduled = await rescheduleTask(engine.sql, task, next)
  if (!isRescheduled || state === task.state) return
  logTask(engine, task, 'task changed', { status: state })
  await addEvent(engine.sql, task.id, state)
}

/** Reschedules a task in its state after a failed poll; by default with a growing pause. */
export async function rescheduleFailed(
  { sql, times }: Engine,
  task: ClaimedTask,
  { dueInMs = retryPollMs(task.failures, times), gone = false }: Partial<Reschedule> = {},
): Promise<void> {
  await rescheduleTask(sql, task, { state: task.state, dueInMs, failed: true, gone })
}

/** Reschedules a task whose poll failed, or ends one that has expired. */
async function retryPoll(
  engine: Engine,
  task: ClaimedTask,
  work: UpstreamWork,
  error: unknown,
): Promise<PollOutcome> {
  const failure = error instanceof UpstreamFailure ? error : undefined
  const { log } = engine.services
  const fields = { ...fieldsOfTask(task), error }
  if (!failure || failure.kind === 'channel_fault') log.error(fields, 'poll failed')
  else logTask(engine, task, 'poll failed', { reason: failure.kind })
  if (task.expired) {
    await work.whenExpired(engine, task)
    return {}
  }
  const { retryAfterSeconds } = failure?.details ?? {}
  const dueInMs = retryPollMs(task.failures, engine.times, retryAfterSeconds)
  await rescheduleFailed(engine, task, { dueInMs })
  await warnOfFailures(engine, task, failure)
  if (failure?.kind !== 'busy') return {}
  return { cooldownMs: cooldownMs(retryAfterSeconds) }
}

/**
 * Warns in the log and the timeline of polls that fail again and again: such a task never ends. The
 * first warning is at FAILURES_STATED, each further one after twice as many.
 */
async function warnOfFailures(
  { sql, services }: Engine,
  task: ClaimedTask,
  failure: UpstreamFailure | undefined,
): Promise<void> {
  const failures = task.failures + 1
  const doublings = Math.log2(failures / FAILURES_STATED)
  if (doublings < 0 || !Number.isInteger(doublings)) return
  const { kind: reason = 'internal', details } = failure ?? {}
  const fields = { ...fieldsOfTask(task), kind: reason }
  services.log.warn({ ...fields, reason: details?.message }, 'polls of a task keep failing')
  await addEvent(sql, task.id, 'polls_failing', { channel: task.channel_id, failures, reason })
}
