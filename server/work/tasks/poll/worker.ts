/**
 * Claims due tasks, within limits per queue partition, and runs each claim: a deferred call,
 * reconciliation, or a poll. Partitions in cooldown are skipped.
 */
import type { Sql } from 'postgres'
import { type StartWork, startClaimLoop } from '../../../base/database/claim-loop.ts'
import { failpoint } from '../../../base/lib/process/failpoint.ts'
import type { TaskPoll } from '../../../wire/upstreams/task-driver.ts'
import { RESPONSE } from '../background/poll-response.ts'
import { askModel } from '../calls/ask-model.ts'
import { makeCall } from '../calls/make-call.ts'
import {
  type Engine,
  keepLease,
  openTaskUpstream,
  refuseOther,
  type TaskUpstream,
  taskReferenceOf,
} from '../engine.ts'
import { finish, hideInEnding } from '../finish/finish.ts'
import { type Polled, type PollOutcome, pollWork, type UpstreamWork } from '../next-poll.ts'
import {
  claimByAccountTurns,
  claimDueTasks,
  dueQueuePartitions,
  readNextTaskMs,
} from '../queue-store.ts'
import { reconcile } from '../recover/reconcile.ts'
import { releaseTask } from '../store.ts'
import type { ClaimedTask } from '../task.ts'

/** Concurrency limits: vendors allow some twenty polls a second, and fewer long calls. */
export interface WorkerSlots {
  readonly pollsPerChannel: number
  readonly callsPerChannel: number
  /** Recordings converted at once by this process. */
  readonly conversions: number
}

export const WORKER_SLOTS: WorkerSlots = {
  pollsPerChannel: 16,
  callsPerChannel: 16,
  conversions: 1,
}
const NOTIFICATIONS = 'tributary_task'
/** Time for running polls to end before a stopping worker hands their tasks over. */
const HANDOVER_MS = 1_000

export interface Worker {
  /**
   * Stops claiming, waits for running polls, and after a second leaves those still running to other
   * workers. Calls that cost money continue until the gateway aborts them.
   */
  stop(): Promise<void>
}

export function startWorker(engine: Engine, slots: WorkerSlots = WORKER_SLOTS): Worker {
  const { sql, services, callKinds, ports } = engine
  const { pollsPerChannel, callsPerChannel } = slots
  const busy = new Map<string, number>()
  const cooldownUntilMs = new Map<string, number>()
  const polling = new Map<ClaimedTask, () => void>()
  let stopped = false

  async function pollClaimed(task: ClaimedTask, partition: string): Promise<void> {
    busy.set(partition, (busy.get(partition) ?? 0) + 1)
    const stopRenewal = keepLease(engine, task)
    if (!callKinds.includes(task.kind)) polling.set(task, stopRenewal)
    try {
      const { cooldownMs } = await pollTask(engine, task)
      if (cooldownMs !== undefined) cooldownUntilMs.set(partition, performance.now() + cooldownMs)
    } finally {
      stopRenewal()
      polling.delete(task)
      busy.set(partition, (busy.get(partition) ?? 1) - 1)
    }
  }

  /** A call is paid for before it is known whether its result can be stored. */
  const mayCall = ports.keepsFiles

  async function claim(background: Sql, start: StartWork): Promise<void> {
    for (const partition of await dueQueuePartitions(background)) {
      const name = `${partition.channel_id} ${partition.kind}`
      const isCall = callKinds.includes(partition.kind)
      if (isCall && !mayCall()) continue
      const free = (isCall ? callsPerChannel : pollsPerChannel) - (busy.get(name) ?? 0)
      if (stopped || free <= 0 || (cooldownUntilMs.get(name) ?? 0) > performance.now()) continue
      const claimTasks = isCall ? claimByAccountTurns : claimDueTasks
      const tasks = await claimTasks(background, partition, free, engine.times.leaseMs)
      // In a database that returned to an earlier state, the vendor may have done them.
      if (isCall && tasks.length > 0 && !(await services.ledger.isContinued())) return
      for (const task of tasks) start(pollClaimed(task, name), { task_id: task.id })
    }
  }

  async function handOver(): Promise<void> {
    for (const [task, stopRenewal] of polling) {
      if (engine.calling.has(task.id)) continue
      stopRenewal()
      await releaseTask(sql, task)
    }
  }

  const loop = startClaimLoop({
    sql,
    log: services.log,
    name: 'tasks',
    notifications: NOTIFICATIONS,
    claim,
    // The calls that are left to others stay due.
    readNextMs: async (background) => (mayCall() ? readNextTaskMs(background) : null),
  })
  return {
    async stop() {
      stopped = true
      await loop.stop()
      const timer = setTimeout(() => {
        handOver().catch((error: unknown) => services.log.warn({ error }, 'polls not handed over'))
      }, HANDOVER_MS)
      await loop.drain()
      clearTimeout(timer)
    },
  }
}

async function pollTask(engine: Engine, task: ClaimedTask): Promise<PollOutcome> {
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
    const upstream = await openTaskUpstream(engine, task)
    return polledOf(engine, task, await pollOwn(engine, task, upstream))
  },
  async whenGone(engine, task) {
    // Our own cancellation may erase the task at the vendor.
    const isCancelled = task.cancel_sent_at !== null
    const ending = isCancelled ? CANCELLED : NOT_FOUND
    await finish(engine, task, ending, { unchargedReason: 'erased' })
  },
  async whenExpired(engine, task) {
    await finish(engine, task, EXPIRED, { unchargedReason: 'expired' })
  },
}

/** Polls the task. Rejects with `failed` for an answer about another one. */
export async function pollOwn(
  engine: Engine,
  task: ClaimedTask,
  { driver, wire, settings }: TaskUpstream,
): Promise<TaskPoll> {
  const poll = await driver.poll(wire, taskReferenceOf(task, settings))
  await refuseOther(engine, task, poll.otherId)
  return poll
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
