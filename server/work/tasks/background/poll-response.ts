/** Polls background responses, and ends those that expire or vanish. */
import { UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import type { Engine } from '../engine.ts'
import { type Polled, rescheduleFailed, type UpstreamWork } from '../next-poll.ts'
import type { ClaimedTask } from '../task.ts'
import { askVendor, type VendorResponseState } from './fetch-response.ts'
import { settleClaimed } from './settle-response.ts'

/** The work of a vendor on a background response. */
export const RESPONSE: UpstreamWork = {
  poll: async (engine, task) => polledResponse(engine, task, await askVendor(engine, task, 'get')),
  async whenGone(engine, task) {
    const message = 'the upstream no longer knows this response'
    await close(engine, task, { code: 'response_not_found', message }, 'erased')
  },
  whenExpired: expire,
}

/** Returns the state that the vendor's object states. */
export function polledResponse(
  engine: Engine,
  task: ClaimedTask,
  vendor: VendorResponseState,
): Polled {
  if (vendor.state !== 'ended') return vendor
  return {
    state: 'ended',
    async end() {
      await settleClaimed(engine, task, vendor.ended)
      return true
    },
  }
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
    await rescheduleFailed(engine, task)
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
