/** Schedules the next poll of a task that has not ended. */

import { FAILURES_STATED } from '../../money/usage/operating-store.ts'
import { UpstreamFailure } from '../../wire/upstreams/failure.ts'
import type { Engine } from './engine.ts'
import { fieldsOfTask, logTask } from './log-task.ts'
import { cooldownMs, nextPollMs, retryPollMs } from './schedule.ts'
import { rescheduleTask } from './store.ts'
import { type ClaimedTask, laterState } from './task.ts'
import { addEvent } from './timeline-store.ts'

export interface PollOutcome {
  /** Cooldown of the whole queue partition, when the upstream is busy. */
  readonly cooldownMs?: number
}

/** Reschedules an open task in the state that the upstream reported. */
export async function rescheduleOpenTask(
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

/** Reschedules a task whose poll failed. `expire` ends one that has expired. */
export async function retryPoll(
  engine: Engine,
  task: ClaimedTask,
  error: unknown,
  expire: (engine: Engine, task: ClaimedTask) => Promise<void>,
): Promise<PollOutcome> {
  const failure = error instanceof UpstreamFailure ? error : undefined
  const { log } = engine.services
  const fields = { ...fieldsOfTask(task), error }
  if (!failure || failure.kind === 'channel_fault') log.error(fields, 'poll failed')
  else logTask(engine, task, 'poll failed', { reason: failure.kind })
  if (task.expired) {
    await expire(engine, task)
    return {}
  }
  const { retryAfterSeconds } = failure?.details ?? {}
  const dueInMs = retryPollMs(task.failures, engine.times, retryAfterSeconds)
  const next = { state: task.state, dueInMs, failed: true, gone: false }
  await rescheduleTask(engine.sql, task, next)
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
