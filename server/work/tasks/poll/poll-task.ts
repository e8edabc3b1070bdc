/** Runs one claim of a task: a deferred call, reconciliation, or a poll. */
import { failpoint } from '../../../base/lib/failpoint.ts'
import { UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import type { TaskPoll } from '../../../wire/upstreams/task-driver.ts'
import { pollBackground } from '../background/poll-response.ts'
import { askModel } from '../calls/ask-model.ts'
import { makeCall } from '../calls/make-call.ts'
import { type Engine, openTaskUpstream, taskReferenceOf } from '../engine.ts'
import { finish } from '../finish/finish.ts'
import { hideInEnding } from '../finish/hide-in-ending.ts'
import { type PollOutcome, rescheduleOpenTask, retryPoll } from '../next-poll.ts'
import { reconcile } from '../recover/reconcile.ts'
import { retryPollMs } from '../schedule.ts'
import { rescheduleTask } from '../store.ts'
import type { ClaimedTask } from '../task.ts'

/** Runs one claim. A poll that fails is retried; it never fails the task. */
export async function pollTask(engine: Engine, task: ClaimedTask): Promise<PollOutcome> {
  failpoint('task-poll')
  const { call, background } = engine.submissions.get(task.endpoint) ?? {}
  if (call) return makeCall(engine, task, call)
  if (task.state === 'submitting' || task.upstream_id === null) {
    await reconcile(engine, task)
    return {}
  }
  if (background) return pollBackground(engine, task)
  let poll: TaskPoll
  try {
    const { driver, wire, settings } = await openTaskUpstream(engine, task)
    poll = await driver.poll(wire, taskReferenceOf(task, settings, task.upstream_id))
  } catch (error) {
    return retryPoll(engine, task, error, expire)
  }
  const complete = poll.state === 'succeeded' ? await askModel(engine, task, poll) : poll
  if (!complete) return retryPoll(engine, task, new UpstreamFailure('failed'), expire)
  await applyPoll(engine, task, complete)
  return {}
}

/** Applies the state that the upstream reported. */
export async function applyPoll(engine: Engine, task: ClaimedTask, poll: TaskPoll): Promise<void> {
  switch (poll.state) {
    case 'succeeded':
    case 'failed':
      await finish(engine, task, hideInEnding(poll, JSON.stringify(task.request)))
      return
    case 'gone':
      await handleGone(engine, task)
      return
    case 'queued':
    case 'processing':
      if (task.expired) await expire(engine, task)
      else await rescheduleOpenTask(engine, task, poll.state)
  }
}

/**
 * Ends a task that the upstream reports as unknown: at once after our own cancel, which may erase
 * it, otherwise only when the report persists.
 */
async function handleGone(engine: Engine, task: ClaimedTask): Promise<void> {
  if (task.cancel_sent_at !== null) {
    const message = 'the task was cancelled'
    const ending = { state: 'failed', code: 'cancelled', message, cancelled: true } as const
    await finish(engine, task, ending, { unchargedReason: 'erased' })
    return
  }
  if (task.expired || (task.gone_ms ?? 0) >= engine.times.goneMs) {
    const message = 'the upstream no longer knows this task; nothing was charged'
    const ending = { state: 'failed', code: 'task_not_found', message } as const
    await finish(engine, task, ending, { unchargedReason: 'erased' })
    return
  }
  const dueInMs = retryPollMs(task.failures, engine.times)
  await rescheduleTask(engine.sql, task, { state: task.state, dueInMs, failed: true, gone: true })
}

async function expire(engine: Engine, task: ClaimedTask): Promise<void> {
  const message = 'the task did not finish in time; nothing was charged'
  const ending = { state: 'failed', code: 'task_expired', message } as const
  await finish(engine, task, ending, { unchargedReason: 'expired' })
}
