/** One look at a claimed task. A look that fails is a retry, never a failed task. */
import { failpoint } from '../lib/failpoint.ts'
import { UpstreamFailure } from '../upstreams/failure.ts'
import type { TaskLook } from '../upstreams/task-driver.ts'
import { askModel } from './ask-model.ts'
import { type Engine, reach, referenceOf } from './engine.ts'
import { finish } from './finish.ts'
import { makeCall } from './make-call.ts'
import { reconcile } from './reconcile.ts'
import { nextLookMs, restMs, retryLookMs } from './schedule.ts'
import { rescheduleTask } from './store.ts'
import { type ClaimedTask, laterState } from './task.ts'
import { addEvent } from './timeline-store.ts'

/** How long the whole channel should rest, when the upstream asks for it. */
export interface LookOutcome {
  readonly restMs?: number
}

export async function lookAt(engine: Engine, task: ClaimedTask): Promise<LookOutcome> {
  failpoint('task-look')
  const call = engine.submissions.get(task.endpoint)?.call
  if (call) return makeCall(engine, task, call)
  if (task.state === 'submitting' || task.upstream_id === null) {
    await reconcile(engine, task)
    return {}
  }
  let look: TaskLook
  try {
    const { driver, wire, settings } = await reach(engine, task)
    look = await driver.look(wire, referenceOf(task, settings, task.upstream_id))
  } catch (error) {
    return lookAgain(engine, task, error)
  }
  const complete = look.state === 'succeeded' ? await askModel(engine, task, look) : look
  if (!complete) return lookAgain(engine, task, new UpstreamFailure('failed'))
  await applyLook(engine, task, complete)
  return {}
}

/** Writes down what an upstream said. */
export async function applyLook(engine: Engine, task: ClaimedTask, look: TaskLook): Promise<void> {
  switch (look.state) {
    case 'succeeded':
    case 'failed':
      await finish(engine, task, look)
      return
    case 'gone':
      await notThere(engine, task)
      return
    case 'queued':
    case 'processing':
      if (task.expired) await giveUp(engine, task)
      else await goOn(engine, task, look.state)
  }
}

async function goOn(
  engine: Engine,
  task: ClaimedTask,
  seen: 'queued' | 'processing',
): Promise<void> {
  const state = laterState(task.state, seen)
  // A vendor that reports by itself is looked at only in case a report is lost.
  const paceMs = task.told_count > 0 ? Number.POSITIVE_INFINITY : task.age_ms
  const dueInMs = nextLookMs(paceMs, engine.times)
  const next = { state, dueInMs, failed: false, gone: false }
  const kept = await rescheduleTask(engine.sql, task, next)
  if (kept && state !== task.state) await addEvent(engine.sql, task.id, state)
}

/** After our own cancel it was finished and is now erased; otherwise it must stay away a while. */
async function notThere(engine: Engine, task: ClaimedTask): Promise<void> {
  if (task.cancel_sent_at !== null) {
    const message = 'the task was cancelled'
    const ending = { state: 'failed', code: 'cancelled', message, cancelled: true } as const
    await finish(engine, task, ending, { orphan: 'erased' })
    return
  }
  if (task.expired || (task.gone_ms ?? 0) >= engine.times.goneMs) {
    const message = 'the upstream no longer knows this task; nothing was charged'
    const ending = { state: 'failed', code: 'task_not_found', message } as const
    await finish(engine, task, ending, { orphan: 'erased' })
    return
  }
  const dueInMs = retryLookMs(task.failures, engine.times)
  await rescheduleTask(engine.sql, task, { state: task.state, dueInMs, failed: true, gone: true })
}

async function giveUp(engine: Engine, task: ClaimedTask): Promise<void> {
  const message = 'the task did not finish in time; nothing was charged'
  const ending = { state: 'failed', code: 'task_expired', message } as const
  await finish(engine, task, ending, { orphan: 'expired' })
}

async function lookAgain(engine: Engine, task: ClaimedTask, error: unknown): Promise<LookOutcome> {
  const failure = error instanceof UpstreamFailure ? error : undefined
  const { log } = engine.services
  const fields = { task_id: task.id, channel: task.channel_id, error }
  if (!failure || failure.kind === 'channel_fault') log.error(fields, 'a look failed')
  else log.debug(fields, 'a look failed')
  if (task.expired) {
    await giveUp(engine, task)
    return {}
  }
  const { retryAfterSeconds } = failure?.details ?? {}
  const dueInMs = retryLookMs(task.failures, engine.times, retryAfterSeconds)
  const next = { state: task.state, dueInMs, failed: true, gone: false }
  await rescheduleTask(engine.sql, task, next)
  if (failure?.kind !== 'busy') return {}
  return { restMs: restMs(retryAfterSeconds) }
}
