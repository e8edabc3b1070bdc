/** The parts that every step of the engine works with; put together in tasks.ts. */
import type { Sql } from 'postgres'
import type { Channel } from '../catalog/catalog.ts'
import type { ChannelVersions } from '../catalog/load/channel-versions.ts'
import { admitTaskHold } from '../ledger/holds/task-holds.ts'
import { asString } from '../lib/json.ts'
import { openWire } from '../pipeline/send/wire.ts'
import type { Services } from '../pipeline/services.ts'
import { UpstreamFailure } from '../upstreams/failure.ts'
import type { TaskAttempt, TaskDriver, TaskKind, TaskReference } from '../upstreams/task-driver.ts'
import type { Wire } from '../upstreams/wire.ts'
import type { TaskPorts } from './ports.ts'
import type { TaskTimes } from './schedule.ts'
import type { TaskSubmission } from './submission.ts'
import type { ClaimedTask } from './task.ts'

export interface Engine {
  readonly sql: Sql
  readonly services: Services
  readonly channels: ChannelVersions
  readonly ports: TaskPorts
  readonly times: TaskTimes
  /** By endpoint name: how its tasks are answered and announced. */
  readonly submissions: ReadonlyMap<string, TaskSubmission>
  /** Kinds of tasks whose work is one call. */
  readonly callKinds: readonly TaskKind[]
}

export interface Reach {
  readonly driver: TaskDriver
  readonly wire: Wire
  readonly settings: unknown
}

/** For one answer about a task, however slowly it comes: results can be large documents. */
export const POLL_ANSWER_MS = 60_000

/**
 * A wire for a claimed task. It opens only with the task's own hold. Nobody watches what a worker
 * waits for, so that every exchange has an end: `totalMs` from its beginning.
 */
export function openTaskWire(
  { services }: Pick<Engine, 'services'>,
  task: Pick<ClaimedTask, 'hold_id' | 'request_id' | 'account_id' | 'hold_amount'>,
  timeoutMs: number,
  totalMs = timeoutMs,
): Wire {
  const hold = admitTaskHold({
    id: task.hold_id,
    requestId: task.request_id,
    accountId: task.account_id,
    amountNanos: task.hold_amount,
  })
  return openWire(hold, {
    dispatcher: services.dispatcher,
    firstByteTimeoutMs: timeoutMs,
    idleTimeoutMs: timeoutMs,
    totalTimeoutMs: totalMs,
    socketsMax: services.limits.socketsMax,
  })
}

/** The channel of a task's attempt, as it was then. Throws `channel_fault` if it is unusable. */
export function openChannel(
  { channels }: Pick<Engine, 'channels'>,
  task: Pick<ClaimedTask, 'channel_id' | 'channel_version'>,
): Promise<Channel> {
  return channels.open(task.channel_id, task.channel_version).catch((cause: unknown) => {
    const message = cause instanceof Error ? asString(cause.message) : undefined
    throw new UpstreamFailure('channel_fault', { cause, ...(message ? { message } : {}) })
  })
}

/** The upstream that has a task, with the credentials that submitted it. */
export async function reach(engine: Engine, task: ClaimedTask): Promise<Reach> {
  const { upstream, settings } = await openChannel(engine, task)
  const driver = engine.services.upstreams.get(upstream)?.tasks?.[task.kind]
  if (!driver) throw new UpstreamFailure('channel_fault', { message: `no ${task.kind} driver` })
  const wire = openTaskWire(engine, task, engine.times.pollTimeoutMs, POLL_ANSWER_MS)
  return { driver, settings, wire }
}

/** What the vendor may be told of a submission: with an address where it makes reports. */
export function attemptOf(
  { ports }: Pick<Engine, 'ports'>,
  { driver, settings }: Pick<Reach, 'driver' | 'settings'>,
  id: string,
): TaskAttempt {
  const vendorCallbackUrl = driver.callbacks?.isEnabled(settings)
    ? ports.vendorCallbackUrl?.(id)
    : undefined
  return { id, ...(vendorCallbackUrl === undefined ? {} : { vendorCallbackUrl }) }
}

export function taskReferenceOf(
  task: ClaimedTask,
  settings: unknown,
  upstreamId: string,
): TaskReference<unknown> {
  return { settings, upstreamModel: task.upstream_model, upstreamId }
}
