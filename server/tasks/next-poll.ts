/** After a poll that did not end its task: when the next one is due. */
import { UpstreamFailure } from '../upstreams/failure.ts'
import type { Engine } from './engine.ts'
import { cooldownMs, nextPollMs, retryPollMs } from './schedule.ts'
import { rescheduleTask } from './store.ts'
import { type ClaimedTask, laterState } from './task.ts'
import { addEvent } from './timeline-store.ts'

/** How long the whole channel should rest, when the upstream asks for it. */
export interface PollOutcome {
  readonly cooldownMs?: number
}

/** Puts a task back that goes on, in the state in which it was seen. */
export async function goOn(
  engine: Engine,
  task: ClaimedTask,
  seen: 'queued' | 'processing',
): Promise<void> {
  const state = laterState(task.state, seen)
  // A vendor that reports by itself is looked at only in case a report is lost.
  const paceMs = task.callback_count > 0 ? Number.POSITIVE_INFINITY : task.age_ms
  const dueInMs = nextPollMs(paceMs, engine.times)
  const next = { state, dueInMs, failed: false, gone: false }
  const kept = await rescheduleTask(engine.sql, task, next)
  if (kept && state !== task.state) await addEvent(engine.sql, task.id, state)
}

/** Puts a task back whose poll failed; `giveUp` ends one that is too old for another. */
export async function retryPoll(
  engine: Engine,
  task: ClaimedTask,
  error: unknown,
  giveUp: (engine: Engine, task: ClaimedTask) => Promise<void>,
): Promise<PollOutcome> {
  const failure = error instanceof UpstreamFailure ? error : undefined
  const { log } = engine.services
  const fields = { task_id: task.id, channel: task.channel_id, error }
  if (!failure || failure.kind === 'channel_fault') log.error(fields, 'poll failed')
  else log.debug(fields, 'poll failed')
  if (task.expired) {
    await giveUp(engine, task)
    return {}
  }
  const { retryAfterSeconds } = failure?.details ?? {}
  const dueInMs = retryPollMs(task.failures, engine.times, retryAfterSeconds)
  const next = { state: task.state, dueInMs, failed: true, gone: false }
  await rescheduleTask(engine.sql, task, next)
  if (failure?.kind !== 'busy') return {}
  return { cooldownMs: cooldownMs(retryAfterSeconds) }
}
