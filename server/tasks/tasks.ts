/** The task engine's public face: what endpoints may ask of it, and its worker. */
import type { Sql } from 'postgres'
import type { ChannelVersions } from '../catalog/load/channel-versions.ts'
import type { Context } from '../http/context.ts'
import type { JsonObject } from '../lib/json.ts'
import type { DryRunRequest } from '../pipeline/hold/dry-run.ts'
import type { Customer } from '../pipeline/request/resolve.ts'
import type { Services } from '../pipeline/services.ts'
import type { TaskKind } from '../upstreams/task-driver.ts'
import { type BackgroundTasks, createBackgroundTasks } from './background/background.ts'
import { receiveCallback } from './callbacks/receive-callback.ts'
import type { Engine } from './engine.ts'
import { cancelTask } from './poll/cancel.ts'
import { startWorker, WORKER_SLOTS, type Worker, type WorkerSlots } from './poll/worker.ts'
import type { CallbackState, TaskPorts } from './ports.ts'
import { anyUnderWay } from './queue-store.ts'
import { TASK_TIMES, type TaskTimes } from './schedule.ts'
import type { TaskSubmission } from './submission.ts'
import { createTask } from './submit/create-task.ts'
import { dryRunTask } from './submit/quote-task.ts'
import type { TaskEvent, TaskRow } from './task.ts'
import {
  findTask,
  hideTask,
  isTaskId,
  listTasks,
  readTimeline,
  type TaskFilter,
} from './view-store.ts'

export interface Tasks {
  /** Runs one creation and answers it. Throws GatewayError for every refusal. */
  create(context: Context, submission: TaskSubmission): Promise<void>
  /** What a creation would freeze. Throws what it would be refused with. */
  dryRun(
    submission: TaskSubmission,
    request: DryRunRequest,
    customer: Customer,
  ): ReturnType<typeof dryRunTask>
  /** A task of this account by our id or the upstream's. */
  find(accountId: string, id: string, kind?: TaskKind): Promise<TaskRow | undefined>
  list(filter: TaskFilter): Promise<{ readonly rows: TaskRow[]; readonly total: number }>
  /** Takes back a task that waits. Throws 409 when it does not wait any more. */
  cancel(task: TaskRow): Promise<void>
  /** Removes a finished task from view. */
  hide(task: TaskRow): Promise<void>
  timeline(task: TaskRow): Promise<readonly TaskEvent[]>
  /** What the vendor of an attempt reports by itself, and the answer; undefined for no attempt. */
  receiveCallback(attemptId: string, document: unknown): Promise<JsonObject | undefined>
  callback(task: TaskRow): Promise<CallbackState | undefined>
  /** Responses that a vendor makes in the background. */
  readonly background: BackgroundTasks
  /** Starts to look at due tasks. */
  work(): Worker
  /** Whether any task, of anybody, has not ended yet. */
  underWay(): Promise<boolean>
}

export function createTasks(options: {
  readonly sql: Sql
  readonly services: Services
  readonly channels: ChannelVersions
  readonly submissions: readonly TaskSubmission[]
  readonly ports?: TaskPorts
  readonly times?: Partial<TaskTimes>
  readonly slots?: Partial<WorkerSlots>
}): Tasks {
  const { sql, services, channels, ports = {} } = options
  const submissions = new Map(options.submissions.map((one) => [one.endpoint, one]))
  const times = { ...TASK_TIMES, ...options.times }
  const callKinds = options.submissions.flatMap(({ kind, call }) => (call ? [kind] : []))
  const engine: Engine = { sql, services, channels, ports, times, submissions, callKinds }

  async function timeline(task: TaskRow): Promise<readonly TaskEvent[]> {
    const events = await readTimeline(sql, task.id)
    const callbacks = (await ports.callbackAttempts?.(task.id)) ?? []
    const deliveryEvents = callbacks.map(({ at, ...detail }) => ({ kind: 'callback', detail, at }))
    return [...events, ...deliveryEvents].sort((a, b) => a.at.getTime() - b.at.getTime())
  }

  return {
    create: (context, submission) => createTask(context, submission, engine),
    dryRun: (submission, request, customer) => dryRunTask(submission, request, customer, engine),
    find: (accountId, id, kind) => findTask(sql, accountId, id, kind),
    async list(filter) {
      const named = [filter.after, filter.model, ...(filter.ids ?? [])]
      const isPossible = named.every((text) => text === undefined || isTaskId(text))
      return isPossible ? listTasks(sql, filter) : { rows: [], total: 0 }
    },
    cancel: (task) => cancelTask(engine, task),
    async hide(task) {
      await hideTask(sql, task.id)
    },
    timeline,
    receiveCallback: (attemptId, document) => receiveCallback(engine, attemptId, document),
    async callback(task) {
      return task.webhook_url === null ? undefined : ports.callbackState?.(task.id)
    },
    background: createBackgroundTasks(engine),
    underWay: () => anyUnderWay(sql),
    work: () => startWorker(engine, { ...WORKER_SLOTS, ...options.slots }),
  }
}
