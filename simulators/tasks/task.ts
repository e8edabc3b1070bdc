// A task of any vendor: it waits, runs and ends by the clock or by the number of polls, is billed
// only when it has succeeded, and notifies listeners of each change.
import type { Units } from '../kernel/book.ts'
import type { Exchange } from '../kernel/exchange.ts'
import type { Scenario } from '../kernel/scenario.ts'

export type TaskState = 'queued' | 'running' | 'succeeded' | 'failed' | 'expired' | 'cancelled'

export interface Ending {
  state: 'succeeded' | 'failed'
  /** The vendor's code and message of a failure. */
  error?: { code: string; message: string }
  /** The bill of a success. */
  units?: Units
}

export interface Task<Order> {
  readonly id: string
  readonly model: string
  readonly order: Order
  readonly scenario: Scenario
  readonly marker: string | undefined
  readonly clientRequestId: string | undefined
  readonly operation: string
  state: TaskState
  /** Real milliseconds since 1970, like all times here. */
  readonly createdAt: number
  updatedAt: number
  /** When it begins to run and when it ends, if the clock decides. */
  runsAt: number
  endsAt: number
  expiresAt: number
  /** Undefined until it has ended. */
  ending: Ending | undefined
  polls: number
  /** The number of polls since the end, for answers that flip. */
  pollsAfterEnd: number
}

export function hasEnded(state: TaskState): boolean {
  return state !== 'queued' && state !== 'running'
}

/** Creates the task that the exchange requests; `queueMs` and `runMs` are not yet scaled. */
export function createTask<Order>(
  exchange: Exchange,
  task: { id: string; model: string; order: Order },
  times: { queueMs: number; runMs: number; lifeMs: number; scale: number },
): Task<Order> {
  const { scenario, script, operation } = exchange
  const now = Date.now()
  const queueMs = scenario.number('queue-time') ?? times.queueMs
  const runMs = scenario.has('never-ends')
    ? Number.POSITIVE_INFINITY
    : (scenario.number('run-time') ?? times.runMs)
  const byPolls = scenario.number('polls') !== undefined
  const { headers } = exchange.request
  const clientRequestId = headers['x-client-request-id'] ?? headers['x-api-request-id']
  return {
    ...task,
    scenario,
    operation,
    marker: script.marker,
    clientRequestId: typeof clientRequestId === 'string' ? clientRequestId : undefined,
    state: 'queued',
    createdAt: now,
    updatedAt: now,
    runsAt: byPolls ? Number.POSITIVE_INFINITY : now + queueMs * times.scale,
    endsAt: byPolls ? Number.POSITIVE_INFINITY : now + (queueMs + runMs) * times.scale,
    expiresAt: now + times.lifeMs * times.scale,
    ending: undefined,
    polls: 0,
    pollsAfterEnd: 0,
  }
}

/** Returns the state that the clock, or the number of polls, has brought the task to. */
export function dueState(
  task: Task<unknown>,
  now: number,
): 'queued' | 'running' | 'ended' | 'expired' {
  const pollsToEnd = task.scenario.number('polls')
  if (now >= task.expiresAt && now < task.endsAt) return 'expired'
  if (pollsToEnd !== undefined) {
    if (task.polls >= pollsToEnd) return 'ended'
    return task.polls > 1 ? 'running' : 'queued'
  }
  if (now >= task.endsAt) return 'ended'
  return now >= task.runsAt ? 'running' : 'queued'
}
