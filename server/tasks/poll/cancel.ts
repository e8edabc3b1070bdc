/**
 * A cancel races the task's own success, so it looks first, takes back only what waits, and looks
 * again: the upstream's last word decides about the money, never our request.
 */
import { GatewayError } from '../../lib/errors.ts'
import { failpoint } from '../../lib/failpoint.ts'
import { toGatewayError } from '../../pipeline/refusal.ts'
import { UpstreamFailure } from '../../upstreams/failure.ts'
import { type Engine, reach, taskReferenceOf } from '../engine.ts'
import { keepLease } from '../keep-lease.ts'
import { claimOne } from '../queue-store.ts'
import { rescheduleTask } from '../store.ts'
import type { ClaimedTask, TaskRow } from '../task.ts'
import { addEvent, markCancelSent } from '../timeline-store.ts'
import { applyPoll } from './poll-task.ts'

/** Takes back a waiting task. Throws 409 when it is not waiting, 502 when nobody knows. */
export async function cancelTask(engine: Engine, row: TaskRow): Promise<void> {
  if (row.state === 'submitting') throw notConfirmed()
  const task = await claimOne(engine.sql, row.id, engine.times.leaseMs)
  if (!task || task.upstream_id === null) throw cannotCancel()
  const letGo = keepLease(engine, task)
  try {
    await takeBack(engine, task, task.upstream_id)
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error
    const dueInMs = engine.times.pollMsMin
    await rescheduleTask(engine.sql, task, {
      state: task.state,
      dueInMs,
      failed: true,
      gone: false,
    })
    throw toGatewayError(new UpstreamFailure('failed', { cause: error }))
  } finally {
    letGo()
  }
}

async function takeBack(engine: Engine, task: ClaimedTask, upstreamId: string): Promise<void> {
  const { driver, wire, settings } = await reach(engine, task)
  const reference = taskReferenceOf(task, settings, upstreamId)
  const before = await driver.poll(wire, reference)
  if (before.state !== 'queued' || !driver.cancel) {
    await applyPoll(engine, task, before)
    throw before.state === 'queued' ? neverCancels() : cannotCancel()
  }
  if (!(await markCancelSent(engine.sql, task.id, task.fence))) throw cannotCancel()
  await addEvent(engine.sql, task.id, 'cancel_sent')
  failpoint('task-cancel')
  const taken = await driver.cancel(wire, reference)
  failpoint('task-cancelled')
  const cancelled = { ...task, cancel_sent_at: taken ? new Date() : task.cancel_sent_at }
  const after = await driver.poll(wire, reference)
  await applyPoll(engine, cancelled, after)
  const ended = after.state === 'gone' || (after.state === 'failed' && after.cancelled === true)
  if (!ended) throw cannotCancel()
}

function cannotCancel(): GatewayError {
  return new GatewayError('conflict', {
    message: 'only a queued task can be cancelled',
    code: 'task_not_queued',
  })
}

/** Its submission has no known outcome yet: there is nothing that the upstream could take back. */
function notConfirmed(): GatewayError {
  return new GatewayError('conflict', {
    message: 'the upstream has not confirmed this task yet: cancel it later',
    code: 'task_not_confirmed',
  })
}

function neverCancels(): GatewayError {
  return new GatewayError('conflict', {
    message: 'tasks of this model cannot be cancelled: it runs to its end',
    code: 'cancel_not_offered',
  })
}
