/** Polls background responses. A poll that fails is retried. */
import { UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import type { Engine } from '../engine.ts'
import { type PollOutcome, rescheduleOpenTask, retryPoll } from '../next-poll.ts'
import { retryPollMs } from '../schedule.ts'
import { rescheduleTask } from '../store.ts'
import type { ClaimedTask } from '../task.ts'
import { askVendor, type VendorResponseState } from './fetch-response.ts'
import { settleClaimed } from './settle-response.ts'

export async function pollBackground(engine: Engine, task: ClaimedTask): Promise<PollOutcome> {
  let vendor: VendorResponseState
  try {
    vendor = await askVendor(engine, task, 'get')
  } catch (error) {
    return retryPoll(engine, task, error, expire)
  }
  await applyState(engine, task, vendor)
  return {}
}

/** Applies the vendor's state of a response. */
export async function applyState(
  engine: Engine,
  task: ClaimedTask,
  vendor: VendorResponseState,
): Promise<void> {
  switch (vendor.state) {
    case 'ended':
      await settleClaimed(engine, task, vendor.ended)
      return
    case 'gone':
      await handleGone(engine, task)
      return
    case 'queued':
    case 'processing':
      if (task.expired) await expire(engine, task)
      else await rescheduleOpenTask(engine, task, vendor.state)
  }
}

/** Closes a response that the vendor reports as unknown, once the report has persisted. */
async function handleGone(engine: Engine, task: ClaimedTask): Promise<void> {
  if (!task.expired && (task.gone_ms ?? 0) < engine.times.goneMs) {
    const dueInMs = retryPollMs(task.failures, engine.times)
    const next = { state: task.state, dueInMs, failed: true, gone: true }
    await rescheduleTask(engine.sql, task, next)
    return
  }
  const failure = {
    code: 'response_not_found',
    message: 'the upstream no longer knows this response',
  }
  await close(engine, task, failure, 'erased')
}

/**
 * Cancels an expired response and settles it by the vendor's final state. A response that has just
 * ended may refuse the cancel, so it is fetched once more. Without a final state, retries for a
 * while, since the vendor may have done the work.
 */
async function expire(engine: Engine, task: ClaimedTask): Promise<void> {
  const failure = { code: 'task_expired', message: 'the response did not finish in time' }
  for (const action of ['cancel', 'get'] as const) {
    const vendor = await tryVendor(engine, task, action)
    if (vendor?.state !== 'ended') continue
    const isCancelled = vendor.ended.status === 'cancelled'
    await settleClaimed(engine, task, isCancelled ? { ...vendor.ended, failure } : vendor.ended)
    return
  }
  if (task.overdue_ms < engine.times.goneMs) {
    const dueInMs = retryPollMs(task.failures, engine.times)
    const next = { state: task.state, dueInMs, failed: true, gone: false }
    await rescheduleTask(engine.sql, task, next)
    return
  }
  await close(engine, task, failure, 'expired')
}

/** Queries the vendor. Returns undefined after an upstream failure. */
async function tryVendor(
  engine: Engine,
  task: ClaimedTask,
  action: 'cancel' | 'get',
): Promise<VendorResponseState | undefined> {
  try {
    return await askVendor(engine, task, action)
  } catch (error) {
    if (error instanceof UpstreamFailure) return undefined
    throw error
  }
}

/** Closes a response: charges the output that streams delivered, else records the vendor's cost. */
async function close(
  engine: Engine,
  task: ClaimedTask,
  failure: { readonly code: string; readonly message: string },
  unchargedReason: string,
): Promise<void> {
  const report = { outputBytes: 0, finished: false }
  await settleClaimed(engine, task, { status: 'failed', report, failure }, { unchargedReason })
}
