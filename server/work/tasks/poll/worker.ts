/** Polls due tasks, within limits per queue partition; skips partitions in cooldown. */
import type { Sql } from 'postgres'
import { type StartWork, startClaimLoop } from '../../../base/database/claim-loop.ts'
import type { Engine } from '../engine.ts'
import { keepLease } from '../keep-lease.ts'
import {
  claimByAccountTurns,
  claimDueTasks,
  dueQueuePartitions,
  readNextTaskMs,
} from '../queue-store.ts'
import { releaseTask } from '../store.ts'
import type { ClaimedTask } from '../task.ts'
import { pollTask } from './poll-task.ts'

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
   * Stops claiming, waits for running polls, and after a second leaves those that go on to other
   * workers. Calls that cost money go on until the gateway aborts them.
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

  /** A call is paid for before its result can turn out to have no place. */
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
