/** The interface of the task engine: operations for endpoints, and the worker. */
import type { Sql } from 'postgres'
import type { Context } from '../../base/http/context.ts'
import type { JsonObject } from '../../base/lib/json.ts'
import type { TaskKind } from '../../base/lib/kinds-and-states.ts'
import type { ChannelVersions } from '../../money/catalog/load/channel-versions.ts'
import { type DryRunRequest, dryRun } from '../pipeline/hold/dry-run.ts'
import type { Quote } from '../pipeline/hold/quote.ts'
import type { Customer, ResolvedCall } from '../pipeline/request/resolve.ts'
import type { Services } from '../pipeline/services.ts'
import { type BackgroundTasks, createBackgroundTasks } from './background/background.ts'
import { receiveCallback } from './callbacks/receive-callback.ts'
import { startConverter } from './convert/converter.ts'
import type { Engine } from './engine.ts'
import { cancelTask } from './poll/cancel.ts'
import { startWorker, WORKER_SLOTS, type Worker, type WorkerSlots } from './poll/worker.ts'
import type { DeliveryState, TaskPorts } from './ports.ts'
import { hasOpenTasks } from './queue-store.ts'
import { TASK_TIMES, type TaskTimes } from './schedule.ts'
import type { TaskSubmission } from './submission.ts'
import { canServe, createTask, planOrder, readParameters } from './submit/create-task.ts'
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
  /** Creates a task and sends the response. Rejects with GatewayError for every refusal. */
  create(context: Context, submission: TaskSubmission): Promise<void>
  /** Computes the hold of a creation without creating it. Rejects as the creation would. */
  dryRun(
    submission: TaskSubmission,
    request: DryRunRequest,
    customer: Customer,
  ): ReturnType<typeof dryRunTask>
  /** Finds a task of the account by our id or the upstream's. */
  find(accountId: string, id: string, kind?: TaskKind): Promise<TaskRow | undefined>
  list(filter: TaskFilter): Promise<{ readonly rows: TaskRow[]; readonly total: number }>
  /** Cancels a queued task. Rejects with 409 when it is no longer queued. */
  cancel(task: TaskRow): Promise<void>
  /** Hides a finished task from finds and lists. */
  hide(task: TaskRow): Promise<void>
  timeline(task: TaskRow): Promise<readonly TaskEvent[]>
  /** Handles a vendor callback. Resolves with the response; undefined for an unknown attempt. */
  receiveCallback(attemptId: string, document: unknown): Promise<JsonObject | undefined>
  /** Returns the state of the task's webhook delivery; undefined without one. */
  delivery(task: TaskRow): Promise<DeliveryState | undefined>
  /** Operations on background responses. */
  readonly background: BackgroundTasks
  /** True if recordings are converted for vendors that do not take their format. */
  readonly convertsRecordings: boolean
  /** Starts the worker that polls due tasks, and converts recordings. */
  startWorker(): Worker
  /** Returns whether any task of any account has not ended. */
  hasOpenTasks(): Promise<boolean>
}

export function createTasks(options: {
  readonly sql: Sql
  readonly services: Services
  readonly channels: ChannelVersions
  readonly submissions: readonly TaskSubmission[]
  readonly ports: TaskPorts
  readonly times?: Partial<TaskTimes>
  readonly slots?: Partial<WorkerSlots>
}): Tasks {
  const { sql, services, channels, ports } = options
  const submissions = new Map(
    options.submissions.map((submission) => [submission.endpoint, submission]),
  )
  const times = { ...TASK_TIMES, ...options.times }
  const callKinds = options.submissions.flatMap(({ kind, call }) => (call ? [kind] : []))
  const calling = new Set<string>()
  const engine: Engine = { sql, services, channels, ports, times, submissions, callKinds, calling }

  async function timeline(task: TaskRow): Promise<readonly TaskEvent[]> {
    const events = await readTimeline(sql, task.id)
    const attempts = await ports.deliveryAttempts(task)
    const deliveryEvents = attempts.map(({ at, ...detail }) => ({ kind: 'callback', detail, at }))
    return [...events, ...deliveryEvents].sort((a, b) => a.at.getTime() - b.at.getTime())
  }

  return {
    create: (context, submission) => createTask(context, submission, engine),
    dryRun: (submission, request, customer) => dryRunTask(submission, request, customer, engine),
    find: (accountId, id, kind) => findTask(sql, accountId, id, kind),
    async list(filter) {
      const texts = [filter.after, filter.model, ...(filter.ids ?? [])]
      const isPossible = texts.every((text) => text === undefined || isTaskId(text))
      return isPossible ? listTasks(sql, filter) : { rows: [], total: 0 }
    },
    cancel: (task) => cancelTask(engine, task),
    async hide(task) {
      await hideTask(sql, task)
    },
    timeline,
    receiveCallback: (attemptId, document) => receiveCallback(engine, attemptId, document),
    async delivery(task) {
      return task.webhook_url === null ? undefined : ports.deliveryState(task)
    },
    background: createBackgroundTasks(engine),
    hasOpenTasks: () => hasOpenTasks(sql),
    convertsRecordings: ports.convertSound !== undefined,
    startWorker() {
      const slots = { ...WORKER_SLOTS, ...options.slots }
      const worker = startWorker(engine, slots)
      const converter = startConverter(engine, slots.conversions)
      return {
        async stop() {
          await Promise.all([worker.stop(), converter?.stop()])
        },
      }
    },
  }
}

/**
 * Computes the hold of a creation. Rejects as the creation would, except that URLs in the request
 * are neither checked nor fetched: nothing leaves the gateway.
 */
async function dryRunTask(
  submission: TaskSubmission,
  request: DryRunRequest,
  customer: Customer,
  engine: Engine,
): Promise<{ readonly call: ResolvedCall; readonly quoted: Quote }> {
  const { services } = engine
  const call = await dryRun(submission, request, customer, services, (upstream) => {
    return canServe(upstream, submission)
  })
  const parameters = await readParameters(submission, call, customer, engine)
  return { call, quoted: planOrder(submission, call, parameters, engine).quote() }
}
