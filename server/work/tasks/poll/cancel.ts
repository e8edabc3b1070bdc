/**
 * Cancels a task. Cancelling races the task's own success, so the task is polled before and after:
 * the upstream's last state decides the charge, never our request.
 */
import { GatewayError } from '../../../base/lib/errors.ts'
import { failpoint } from '../../../base/lib/failpoint.ts'
import { UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import { toGatewayError } from '../../pipeline/refusal.ts'
import { type Engine, openTaskUpstream, taskReferenceOf } from '../engine.ts'
import { keepLease } from '../keep-lease.ts'
import { claimOne } from '../queue-store.ts'
import { rescheduleTask } from '../store.ts'
import type { ClaimedTask, TaskRow } from '../task.ts'
import { addEvent, markCancelSent } from '../timeline-store.ts'
import { applyPoll } from './poll-task.ts'

/** Cancels a queued task. Rejects with 409 if it is not queued, 502 if its state is unknown. */
export async function cancelTask(engine: Engine, row: TaskRow): Promise<void> {
  if (row.state === 'submitting') throw notConfirmed()
  const task = await claimOne(engine.sql, row.id, engine.times.leaseMs)
  if (!task || task.upstream_id === null) throw notQueued()
  const stopRenewal = keepLease(engine, task)
  try {
    await cancelClaimed(engine, task, task.upstream_id)
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
    stopRenewal()
  }
}

async function cancelClaimed(engine: Engine, task: ClaimedTask, upstreamId: string): Promise<void> {
  const { driver, wire, settings } = await openTaskUpstream(engine, task)
  const reference = taskReferenceOf(task, settings, upstreamId)
  const before = await driver.poll(wire, reference)
  if (before.state !== 'queued' || !driver.cancel) {
    await applyPoll(engine, task, before)
    throw before.state === 'queued' ? cancelNotOffered() : notQueued()
  }
  if (!(await markCancelSent(engine.sql, task.id, task.fence))) throw notQueued()
  await addEvent(engine.sql, task.id, 'cancel_sent')
  failpoint('task-cancel')
  const isTaken = await driver.cancel(wire, reference)
  failpoint('task-cancelled')
  const cancelled = { ...task, cancel_sent_at: isTaken ? new Date() : task.cancel_sent_at }
  const after = await driver.poll(wire, reference)
  await applyPoll(engine, cancelled, after)
  const isCancelled =
    after.state === 'gone' || (after.state === 'failed' && after.cancelled === true)
  if (!isCancelled) throw notQueued()
}

function notQueued(): GatewayError {
  return new GatewayError('conflict', {
    message: 'only a queued task can be cancelled',
    code: 'task_not_queued',
  })
}

/** The submission has no known outcome yet, so there is no upstream task to cancel. */
function notConfirmed(): GatewayError {
  return new GatewayError('conflict', {
    message: 'the upstream has not confirmed this task yet: cancel it later',
    code: 'task_not_confirmed',
  })
}

function cancelNotOffered(): GatewayError {
  return new GatewayError('conflict', {
    message: 'tasks of this model cannot be cancelled',
    code: 'cancel_not_offered',
  })
}
