// All tasks of one vendor's service. States are computed lazily, so that they are right at every
// query, and by timers, so that bills and callbacks do not depend on queries.
import { type Exchange, Refused } from '../kernel/exchange.ts'
import type { Platform } from '../kernel/platform.ts'
import { createTask, dueState, type Ending, hasEnded, type Task, type TaskState } from './task.ts'

/** Above this number, the oldest tasks are forgotten. */
const KEPT = 200_000

const DAY_MS = 86_400_000

export interface TaskRules<Order> {
  vendor: string
  platform: Platform
  /** Not scaled, like everything here that ends in Ms. */
  queueMs: number
  runMs: (order: Order) => number
  /** The time until a task expires; infinite if the vendor has no such state. */
  lifeMs: (order: Order) => number
  /** The time for which a record can be read. */
  recordMs: number
  /** The outcome of a task that completes without a scenario. */
  end: (task: Task<Order>) => Ending
  /** The vendor's words for a failure that a scenario requests. */
  failure: (code: string | undefined) => { code: string; message: string }
  /** False while input is still being fetched: the task keeps running. */
  isReady?: (order: Order) => boolean
  onChange?: (task: Task<Order>) => void
}

export interface NewTask<Order> {
  id: string
  model: string
  order: Order
}

export class TaskList<Order> {
  private readonly tasks = new Map<string, Task<Order>>()
  private readonly rules: TaskRules<Order>

  constructor(rules: TaskRules<Order>) {
    this.rules = rules
  }

  /** Accepts a task. An id that is already taken keeps its first task: the scenario repeats ids. */
  add(exchange: Exchange, newTask: NewTask<Order>): Task<Order> {
    const existing = this.tasks.get(newTask.id)
    if (existing) return existing
    const { rules } = this
    const task = createTask(exchange, newTask, {
      queueMs: rules.queueMs,
      runMs: rules.runMs(newTask.order),
      lifeMs: rules.lifeMs(newTask.order),
      scale: rules.platform.timeScale,
    })
    this.tasks.set(task.id, task)
    const [oldest] = this.tasks.size > KEPT ? this.tasks.keys() : []
    if (oldest !== undefined) this.tasks.delete(oldest)
    this.watch(task)
    rules.onChange?.(task)
    return task
  }

  /** Returns the current task without counting a poll. */
  peek(id: string): Task<Order> | undefined {
    const task = this.tasks.get(id)
    if (!task) return undefined
    this.advance(task)
    return this.isReadable(task) ? task : undefined
  }

  /** Polls a task: this is counted, and may be answered by the scenario's `poll-storm`. */
  poll(id: string): Task<Order> | undefined {
    const task = this.tasks.get(id)
    if (!task) return undefined
    task.polls += 1
    refusePoll(task)
    const wasOver = hasEnded(task.state)
    this.advance(task)
    if (wasOver) task.pollsAfterEnd += 1
    return this.isReadable(task) ? task : undefined
  }

  /** Newest first. */
  list(): Task<Order>[] {
    return [...this.tasks.values()].reverse().filter((task) => {
      this.advance(task)
      return this.isReadable(task)
    })
  }

  cancel(task: Task<Order>): void {
    this.become(task, 'cancelled')
    this.bill(task, 'cancelled')
  }

  delete(task: Task<Order>): void {
    this.tasks.delete(task.id)
  }

  private isReadable(task: Task<Order>): boolean {
    const { recordMs, platform } = this.rules
    if (task.scenario.has('vanishes') && hasEnded(task.state)) return false
    const now = Date.now()
    const cancelledFor = task.state === 'cancelled' ? now - task.updatedAt : 0
    if (cancelledFor > DAY_MS * platform.timeScale) return false
    return now - task.createdAt <= recordMs * platform.timeScale
  }

  /** Updates the task when it is due; a timer that fires too early is set again. */
  private watch(task: Task<Order>): void {
    const end = Math.min(task.endsAt, task.expiresAt)
    const due = task.state === 'queued' ? Math.min(task.runsAt, end) : end
    this.rules.platform.timers.after(Math.max(0, due - Date.now()) + 1, () => {
      this.advance(task)
      if (!hasEnded(task.state)) this.watch(task)
    })
  }

  private advance(task: Task<Order>): void {
    if (hasEnded(task.state)) return
    const due = dueState(task, Date.now())
    if (due !== 'queued' && task.state === 'queued') this.become(task, 'running')
    if (due === 'expired') {
      this.become(task, 'expired')
      this.bill(task, 'expired')
    } else if (due === 'ended' && this.rules.isReady?.(task.order) !== false) this.finish(task)
  }

  private finish(task: Task<Order>): void {
    const { end, failure } = this.rules
    const failCode = task.scenario.has('fail-task')
    const error = failCode ? failure(task.scenario.text('fail-task')) : undefined
    const ending: Ending = error ? { state: 'failed', error } : end(task)
    task.ending = ending
    this.become(task, ending.state)
    this.bill(task, ending.error?.code)
  }

  private become(task: Task<Order>, state: TaskState): void {
    task.state = state
    task.updatedAt = Date.now()
    this.rules.onChange?.(task)
  }

  private bill(task: Task<Order>, reason: string | undefined): void {
    const units = task.ending?.units
    const billed = task.state === 'succeeded' && units !== undefined
    this.rules.platform.book.write({
      vendor: this.rules.vendor,
      operation: task.operation,
      request_id: task.id,
      model: task.model,
      units: billed ? units : {},
      billed,
      status: 200,
      reason,
      marker: task.marker,
      client_request_id: task.clientRequestId,
    })
  }
}

function refusePoll({ scenario, polls }: Task<unknown>): void {
  if (polls <= (scenario.number('poll-storm') ?? 0)) {
    throw new Refused({ status: 429, retryAfterSeconds: 1, message: 'Too many requests.' })
  }
  if (polls <= (scenario.number('poll-errors') ?? 0)) {
    throw new Refused({ status: 500, message: 'Internal error.' })
  }
}

/** Returns the state to report, which the scenario `flips` changes after the end. */
export function reportedState({ state, scenario, pollsAfterEnd }: Task<unknown>): TaskState {
  if (!scenario.has('flips') || pollsAfterEnd % 2 === 0) return state
  if (state === 'succeeded') return 'failed'
  return state === 'failed' ? 'succeeded' : state
}
