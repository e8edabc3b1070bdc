/**
 * The loop that looks at due tasks: so many at once on each channel, none on a channel that asked
 * for rest, woken by notifications and by its own timer.
 */
import { createWaker } from '../../lib/queues/waker.ts'
import type { Engine } from '../engine.ts'
import { keepLease } from '../keep-lease.ts'
import { claimDueTasks, claimInTurn, dueQueuePartitions, readNextTaskMs } from '../queue-store.ts'
import type { ClaimedTask } from '../task.ts'
import { pollTask } from './poll-task.ts'

/** At one time: vendors allow some twenty looks a second, and fewer calls that take long. */
export interface WorkerSlots {
  readonly pollsPerChannel: number
  readonly callsPerChannel: number
}

export const WORKER_SLOTS: WorkerSlots = { pollsPerChannel: 16, callsPerChannel: 16 }
const IDLE_MS = 1_000
const WAIT_MS_MIN = 20
const NOTIFICATIONS = 'tributary_task'

export interface Worker {
  /** Waits for the looks under way; what is not finished is taken over when its lease ends. */
  stop(): Promise<void>
}

export function startWorker(engine: Engine, slots: WorkerSlots = WORKER_SLOTS): Worker {
  const { sql, services, callKinds } = engine
  const { pollsPerChannel, callsPerChannel } = slots
  const busy = new Map<string, number>()
  const cooldownUntilMs = new Map<string, number>()
  const running = new Set<Promise<void>>()
  const { wait, wake } = createWaker()
  let stopped = false

  async function pollClaimed(task: ClaimedTask, partition: string): Promise<void> {
    busy.set(partition, (busy.get(partition) ?? 0) + 1)
    const letGo = keepLease(engine, task)
    try {
      const { cooldownMs } = await pollTask(engine, task)
      if (cooldownMs !== undefined) cooldownUntilMs.set(partition, performance.now() + cooldownMs)
    } catch (error) {
      services.log.warn({ task_id: task.id, error }, 'poll failed, lease will expire')
    } finally {
      letGo()
      busy.set(partition, (busy.get(partition) ?? 1) - 1)
      wake()
    }
  }

  async function round(): Promise<void> {
    for (const partition of await dueQueuePartitions(sql)) {
      const name = `${partition.channel_id} ${partition.kind}`
      const isCall = callKinds.includes(partition.kind)
      const free = (isCall ? callsPerChannel : pollsPerChannel) - (busy.get(name) ?? 0)
      if (stopped || free <= 0 || (cooldownUntilMs.get(name) ?? 0) > performance.now()) continue
      const claim = isCall ? claimInTurn : claimDueTasks
      for (const task of await claim(sql, partition, free, engine.times.leaseMs)) {
        const work = pollClaimed(task, name).finally(() => running.delete(work))
        running.add(work)
      }
    }
  }

  async function run(): Promise<void> {
    while (!stopped) {
      let waitMs = IDLE_MS
      try {
        await round()
        waitMs = Math.min(Math.max((await readNextTaskMs(sql)) ?? IDLE_MS, WAIT_MS_MIN), IDLE_MS)
      } catch (error) {
        services.log.warn({ error }, 'tasks wait for the database')
      }
      if (!stopped) await wait(waitMs)
    }
  }

  const listening = sql
    .listen(NOTIFICATIONS, () => wake())
    .catch((error) => void services.log.warn({ error }, 'no notifications of tasks: timer only'))
  const done = run()

  return {
    async stop() {
      stopped = true
      wake()
      await (await listening)?.unlisten().catch(() => undefined)
      await done
      await Promise.all(running)
    },
  }
}
