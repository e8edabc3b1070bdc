/** One poll of a background response by a worker. A poll that fails is repeated. */
import { UpstreamFailure } from '../../upstreams/failure.ts'
import type { Engine } from '../engine.ts'
import { goOn, type PollOutcome, retryPoll } from '../next-poll.ts'
import { retryPollMs } from '../schedule.ts'
import { rescheduleTask } from '../store.ts'
import type { ClaimedTask } from '../task.ts'
import { askVendor, type VendorResponseState } from './fetch-response.ts'
import { settleClaimed } from './settle-response.ts'

export async function pollBackground(engine: Engine, task: ClaimedTask): Promise<PollOutcome> {
  let said: VendorResponseState
  try {
    said = await askVendor(engine, task, 'get')
  } catch (error) {
    return retryPoll(engine, task, error, expire)
  }
  await applyState(engine, task, said)
  return {}
}

/** Writes down what the vendor said. */
export async function applyState(
  engine: Engine,
  task: ClaimedTask,
  said: VendorResponseState,
): Promise<void> {
  switch (said.state) {
    case 'ended':
      await settleClaimed(engine, task, said.ended)
      return
    case 'gone':
      await notThere(engine, task)
      return
    case 'queued':
    case 'processing':
      if (task.expired) await expire(engine, task)
      else await goOn(engine, task, said.state)
  }
}

/** A vendor that keeps saying so is believed after a while. */
async function notThere(engine: Engine, task: ClaimedTask): Promise<void> {
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
 * Cancels a response that has taken too long, and settles by what the vendor then says. One that
 * has ended meanwhile may refuse to be cancelled, so it is read once more. A vendor that says
 * nothing final is asked again for a while: it may have done the work.
 */
async function expire(engine: Engine, task: ClaimedTask): Promise<void> {
  const failure = { code: 'task_expired', message: 'the response did not finish in time' }
  for (const action of ['cancel', 'get'] as const) {
    const said = await tryVendor(engine, task, action)
    if (said?.state !== 'ended') continue
    const isOurs = said.ended.status === 'cancelled'
    await settleClaimed(engine, task, isOurs ? { ...said.ended, failure } : said.ended)
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

/** Undefined when the vendor gave no word about the response. */
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

/** Only what streams have delivered is owed; without any, what the vendor bills is noted. */
async function close(
  engine: Engine,
  task: ClaimedTask,
  failure: { readonly code: string; readonly message: string },
  unchargedReason: string,
): Promise<void> {
  const report = { outputBytes: 0, finished: false }
  await settleClaimed(engine, task, { status: 'failed', report, failure }, { unchargedReason })
}
