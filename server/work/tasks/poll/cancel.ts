/**
 * Cancels a task. Cancelling races the task's own success, so the task is polled before and after:
 * the upstream's last state decides the charge, never our request.
 */
import { GatewayError } from '../../../base/lib/errors.ts'
import { failpoint } from '../../../base/lib/process/failpoint.ts'
import { UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import type { TaskPoll } from '../../../wire/upstreams/task-driver.ts'
import { toGatewayError } from '../../pipeline/refusal.ts'
import { askVendor } from '../background/fetch-response.ts'
import { polledResponse, RESPONSE } from '../background/poll-response.ts'
import {
  type Engine,
  findTaskDriver,
  keepLease,
  openTaskUpstream,
  taskReferenceOf,
} from '../engine.ts'
import { finish } from '../finish/finish.ts'
import { applyPolled, rescheduleFailed } from '../next-poll.ts'
import { claimOne } from '../queue-store.ts'
import type { ClaimedTask, TaskRow } from '../task.ts'
import { addEvent, markCancelSent } from '../timeline-store.ts'
import { CANCELLED, DRIVEN, polledOf, pollOwn } from './worker.ts'

/** Cancels a queued task. Rejects with 409 if it is not queued, 502 if its state is unknown. */
export async function cancelTask(engine: Engine, row: TaskRow): Promise<void> {
  if (row.state === 'submitting') throw notConfirmed()
  const { call, background } = engine.submissions.get(row.endpoint) ?? {}
  if (call) await cancelCall(engine, row)
  else if (background) await cancelAtUpstream(engine, row, cancelResponse)
  else {
    const { driver } = await findTaskDriver(engine, row).catch(rejectAsCaller)
    if (!driver.cancel) throw cancelNotOffered()
    await cancelAtUpstream(engine, row, cancelDriven)
  }
}

/** Ends a call that no worker has started. A running call continues, because it is paid for. */
async function cancelCall(engine: Engine, row: TaskRow): Promise<void> {
  const task = await claimOne(engine.sql, row, engine.times.leaseMs, ['queued'])
  if (!task || !(await finish(engine, task, CANCELLED))) throw notQueued()
}

/** Claims the task for `cancel`, which resolves with whether the upstream has cancelled it. */
async function cancelAtUpstream(
  engine: Engine,
  row: TaskRow,
  cancel: (engine: Engine, task: ClaimedTask) => Promise<boolean>,
): Promise<void> {
  const task = await claimOne(engine.sql, row, engine.times.leaseMs)
  if (!task) throw notQueued()
  const stopRenewal = keepLease(engine, task)
  try {
    if (!(await cancel(engine, task))) throw notQueued()
  } catch (error) {
    if (error instanceof UpstreamFailure) {
      await rescheduleFailed(engine, task, { dueInMs: engine.times.pollMsMin })
    }
    rejectAsCaller(error)
  } finally {
    stopRenewal()
  }
}

async function cancelDriven(engine: Engine, task: ClaimedTask): Promise<boolean> {
  const upstream = await openTaskUpstream(engine, task)
  const { driver, wire, settings } = upstream
  const before = await pollOwn(engine, task, upstream)
  if (before.state !== 'queued') {
    await applyPolled(engine, task, DRIVEN, polledOf(engine, task, before))
    // An earlier cancel was taken, though its answer was lost.
    return isCancelled(before)
  }
  if (!(await markCancelSent(engine.sql, task))) return false
  await addEvent(engine.sql, task.id, 'cancel_sent')
  failpoint('task-cancel')
  // Otherwise a single 404 for a task that goes on would end it as cancelled, and uncharged.
  const forget = async (error: unknown): Promise<never> => {
    await markCancelSent(engine.sql, task, false)
    throw error
  }
  const isTaken = await driver.cancel?.(wire, taskReferenceOf(task, settings)).catch(forget)
  failpoint('task-cancelled')
  const cancelled = { ...task, cancel_sent_at: isTaken ? new Date() : task.cancel_sent_at }
  const polled = await pollOwn(engine, task, upstream)
  const goesOn = polled.state === 'queued' || polled.state === 'processing'
  if (isTaken === false && goesOn) await markCancelSent(engine.sql, task, false)
  // Some vendors report a cancelled task as failed.
  const isEnded = isTaken === true && polled.state === 'failed'
  const after = isEnded ? { ...polled, ...CANCELLED } : polled
  await applyPolled(engine, cancelled, DRIVEN, polledOf(engine, cancelled, after))
  return after.state === 'gone' || isCancelled(after)
}

function isCancelled(poll: TaskPoll): boolean {
  return poll.state === 'failed' && poll.cancelled === true
}

async function cancelResponse(engine: Engine, task: ClaimedTask): Promise<boolean> {
  const vendor = await askVendor(engine, task, 'cancel')
  await applyPolled(engine, task, RESPONSE, polledResponse(engine, task, vendor))
  return vendor.state === 'ended' && vendor.ended.status === 'cancelled'
}

/** Rethrows a failure of the upstream as the caller's 502, and any other error as it is. */
function rejectAsCaller(error: unknown): never {
  if (!(error instanceof UpstreamFailure)) throw error
  throw toGatewayError(new UpstreamFailure('failed', { cause: error }))
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
