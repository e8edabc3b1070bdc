/** Runs one claim of a task: a deferred call, reconciliation, or a poll. */
import { failpoint } from '../../../base/lib/failpoint.ts'
import type { TaskPoll } from '../../../wire/upstreams/task-driver.ts'
import { RESPONSE } from '../background/poll-response.ts'
import { askModel } from '../calls/ask-model.ts'
import { makeCall } from '../calls/make-call.ts'
import { type Engine, openTaskUpstream, taskReferenceOf } from '../engine.ts'
import { finish } from '../finish/finish.ts'
import { hideInEnding } from '../finish/hide-in-ending.ts'
import { type Polled, type PollOutcome, pollWork, type UpstreamWork } from '../next-poll.ts'
import { reconcile } from '../recover/reconcile.ts'
import type { ClaimedTask } from '../task.ts'

export async function pollTask(engine: Engine, task: ClaimedTask): Promise<PollOutcome> {
  failpoint('task-poll')
  const { call, background } = engine.submissions.get(task.endpoint) ?? {}
  if (call) return makeCall(engine, task, call)
  if (task.state === 'submitting' || task.upstream_id === null) {
    await reconcile(engine, task)
    return {}
  }
  return pollWork(engine, task, background ? RESPONSE : DRIVEN)
}

/** The work of a driver. */
export const DRIVEN: UpstreamWork = {
  async poll(engine, task) {
    const { driver, wire, settings } = await openTaskUpstream(engine, task)
    return polledOf(engine, task, await driver.poll(wire, taskReferenceOf(task, settings)))
  },
  async whenGone(engine, task) {
    // Our own cancel may erase it.
    const isCancelled = task.cancel_sent_at !== null
    const ending = isCancelled ? CANCELLED : NOT_FOUND
    await finish(engine, task, ending, { unchargedReason: 'erased' })
  },
  async whenExpired(engine, task) {
    await finish(engine, task, EXPIRED, { unchargedReason: 'expired' })
  },
}

/** Returns the state that a driver has read. An end includes the follow-up call to a model. */
export function polledOf(engine: Engine, task: ClaimedTask, poll: TaskPoll): Polled {
  if (poll.state !== 'succeeded' && poll.state !== 'failed') return { state: poll.state }
  return {
    state: 'ended',
    async end() {
      const complete = poll.state === 'succeeded' ? await askModel(engine, task, poll) : poll
      if (!complete) return false
      const ending = hideInEnding(complete, JSON.stringify(task.request))
      const isLost = ending.state === 'failed' && ending.isBilled === true
      await finish(engine, task, ending, isLost ? { unchargedReason: 'billed' } : {})
      return true
    },
  }
}

export const CANCELLED = {
  state: 'failed',
  code: 'cancelled',
  message: 'the task was cancelled',
  cancelled: true,
} as const
const NOT_FOUND = {
  state: 'failed',
  code: 'task_not_found',
  message: 'the upstream no longer knows this task; nothing was charged',
} as const
const EXPIRED = {
  state: 'failed',
  code: 'task_expired',
  message: 'the task did not finish in time; nothing was charged',
} as const
