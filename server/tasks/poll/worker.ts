/**
 * The loop that looks at due tasks: so many at once on each channel, none on a channel that asked
 * for rest, woken by notifications and by its own timer.
 */
import { createWaker } from '../../lib/queues/waker.ts'
import type { Engine } from '../engine.ts'
import { keepLease } from '../keep-lease.ts'
import { claimDueTasks, claimInTurn, dueLanes, readNextTaskMs } from '../queue-store.ts'
import type { ClaimedTask } from '../task.ts'
import { lookAt } from './poll-task.ts'

/** At one time: vendors allow some twenty looks a second, and fewer calls that take long. */
export interface WorkerSlots {
  readonly looksPerChannel: number
  readonly callsPerChannel: number
}

export const WORKER_SLOTS: WorkerSlots = { looksPerChannel: 16, callsPerChannel: 16 }
const IDLE_MS = 1_000
const WAIT_MS_MIN = 20
const NOTIFICATIONS = 'tributary_task'

export interface Worker {
  /** Waits for the looks under way; what is not finished is taken over when its lease ends. */
  stop(): Promise<void>
}

export function startWorker(engine: Engine, slots: WorkerSlots = WORKER_SLOTS): Worker {
  const { sql, services, callKinds } = engine
  const { looksPerChannel, callsPerChannel } = slots
  const busy = new Map<string, number>()
  const restUntilMs = new Map<string, number>()
  const running = new Set<Promise<void>>()
  const { wait, wake } = createWaker()
  let stopped = false

  async function look(task: ClaimedTask, lane: string): Promise<void> {
    busy.set(lane, (busy.get(lane) ?? 0) + 1)
    const letGo = keepLease(engine, task)
    try {
      const { restMs } = await lookAt(engine, task)
      if (restMs !== undefined) restUntilMs.set(lane, performance.now() + restMs)
    } catch (error) {
      services.log.warn({ task_id: task.id, error }, 'a look is left to the next lease')
    } finally {
      letGo()
      busy.set(lane, (busy.get(lane) ?? 1) - 1)
      wake()
    }
  }

  async function round(): Promise<void> {
    for (const lane of await dueLanes(sql)) {
      const name = `${lane.channel_id} ${lane.kind}`
      const isCall = callKinds.includes(lane.kind)
      const free = (isCall ? callsPerChannel : looksPerChannel) - (busy.get(name) ?? 0)
      if (stopped || free <= 0 || (restUntilMs.get(name) ?? 0) > performance.now()) continue
      const claim = isCall ? claimInTurn : claimDueTasks
      for (const task of await claim(sql, lane, free, engine.times.leaseMs)) {
        const work = look(task, name).finally(() => running.delete(work))
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
