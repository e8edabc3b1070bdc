/**
 * The dependencies of every step of the task engine, access to a task's upstream, the lease of a
 * task that this process works on, and the log's lines about tasks.
 */
import type { Sql } from 'postgres'
import { asString } from '../../base/lib/json.ts'
import type { TaskKind } from '../../base/lib/kinds-and-states.ts'
import type { Channel } from '../../money/catalog/catalog.ts'
import type { ChannelVersions } from '../../money/catalog/load/channel-versions.ts'
import { admitTaskHold } from '../../money/ledger/holds/task-holds.ts'
import { UpstreamFailure } from '../../wire/upstreams/failure.ts'
import {
  type TaskAttempt,
  type TaskDriver,
  type TaskReference,
  withChannel,
} from '../../wire/upstreams/task-driver.ts'
import type { Wire } from '../../wire/upstreams/wire.ts'
import { Deadline } from '../pipeline/send/deadline.ts'
import { openWire } from '../pipeline/send/wire.ts'
import type { Services } from '../pipeline/services.ts'
import type { TaskPorts } from './ports.ts'
import type { TaskTimes } from './schedule.ts'
import { renewTask } from './store.ts'
import type { TaskSubmission } from './submission.ts'
import type { ClaimedTask, TaskRow } from './task.ts'
import { knownUpstreamIds } from './timeline-store.ts'

export interface Engine {
  readonly sql: Sql
  readonly services: Services
  readonly channels: ChannelVersions
  readonly ports: TaskPorts
  readonly times: TaskTimes
  /** Declarations of task endpoints, by endpoint name. */
  readonly submissions: ReadonlyMap<string, TaskSubmission>
  /** Kinds of tasks whose work is one deferred call. */
  readonly callKinds: readonly TaskKind[]
  /** Tasks whose claim is in a call that costs money: no other worker may repeat it early. */
  readonly calling: Set<string>
}

/** The upstream that runs a task, with the credentials that submitted it. */
export interface TaskUpstream {
  readonly driver: TaskDriver
  readonly wire: Wire
  readonly settings: unknown
}

/** Total time of one poll or look-up, whose response can be a large document. */
export const POLL_TOTAL_MS = 60_000

/** Opens a wire with the task's own hold. All that is sent on it ends within `totalMs`. */
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
    room: { memory: services.memory, account: task.account_id },
    firstByteTimeoutMs: timeoutMs,
    idleTimeoutMs: timeoutMs,
    deadline: new Deadline(totalMs),
    connectTimeoutMs: services.limits.connectTimeoutMs,
    socketsMax: services.limits.socketsMax,
  })
}

/** Opens the channel version that the attempt used. Rejects with `channel_fault` if unusable. */
export function openChannel(
  { channels }: Pick<Engine, 'channels'>,
  task: Pick<ClaimedTask, 'channel_id' | 'channel_version'>,
): Promise<Channel> {
  return channels.open(task.channel_id, task.channel_version).catch((cause: unknown) => {
    const message = cause instanceof Error ? asString(cause.message) : undefined
    throw new UpstreamFailure('channel_fault', { cause, ...(message ? { message } : {}) })
  })
}

/** Finds the driver of a task. Rejects with `channel_fault` if its channel is unusable. */
export async function findTaskDriver(
  engine: Engine,
  task: TaskRow,
): Promise<Omit<TaskUpstream, 'wire'>> {
  const { upstream, settings } = await openChannel(engine, task)
  const driver = engine.services.upstreams.get(upstream)?.tasks?.[task.kind]
  if (!driver) throw new UpstreamFailure('channel_fault', { message: `no ${task.kind} driver` })
  return { driver: withChannel(driver, settings), settings }
}

/** Opens the upstream of a claimed task. Rejects with `channel_fault` if it is unusable. */
export async function openTaskUpstream(engine: Engine, task: ClaimedTask): Promise<TaskUpstream> {
  const wire = openTaskWire(engine, task, engine.times.pollTimeoutMs, POLL_TOTAL_MS)
  return { ...(await findTaskDriver(engine, task)), wire }
}

/** Returns an attempt as the driver gets it, with the vendor callback URL where one is enabled. */
export function vendorAttemptOf(
  { ports }: Pick<Engine, 'ports'>,
  { driver, settings }: Pick<TaskUpstream, 'driver' | 'settings'>,
  id: string,
): TaskAttempt {
  const vendorCallbackUrl = driver.callbacks?.isEnabled(settings)
    ? ports.vendorCallbackUrl(id)
    : undefined
  return { id, vendorCallbackUrl }
}

/** Names an accepted task at its upstream. */
export function taskReferenceOf(
  { upstream_model: upstreamModel, upstream_id, request }: ClaimedTask,
  settings: unknown,
  upstreamId = upstream_id,
): TaskReference<unknown> {
  if (upstreamId === null) throw new UpstreamFailure('channel_fault', { message: 'no upstream id' })
  const { recording_seconds: seconds } = request
  const measured = typeof seconds === 'number' ? { recordingSeconds: seconds } : {}
  return { settings, upstreamModel, upstreamId, parameters: request, ...measured }
}

/**
 * Throws `failed` for an answer about another attempt's task, so that the task is polled on. An id
 * that no attempt has may be one that a relay translates.
 */
export async function refuseOther(
  { sql }: Pick<Engine, 'sql'>,
  { channel_id: channelId, upstream_id }: Pick<ClaimedTask, 'channel_id' | 'upstream_id'>,
  named: string | undefined,
): Promise<void> {
  if (named === undefined || named === upstream_id) return
  if ((await knownUpstreamIds(sql, channelId, [named])).size === 0) return
  throw new UpstreamFailure('failed', { message: `an answer about another task, ${named}` })
}

/** Renews the lease until the returned function is called. A lost lease stays lost. */
export function keepLease(
  { sql, times }: Pick<Engine, 'sql' | 'times'>,
  task: Pick<ClaimedTask, 'id' | 'account_id' | 'fence'>,
): () => void {
  const timer = setInterval(() => {
    // A failed renewal needs no handling: the fencing token refuses any later write.
    renewTask(sql, task, times.leaseMs).catch(() => undefined)
  }, times.leaseMs / 3)
  return () => clearInterval(timer)
}

type LoggedTask = Pick<
  TaskRow,
  'id' | 'kind' | 'account_id' | 'key_id' | 'request_id' | 'model' | 'channel_id'
>

/** Returns the fields of each line about a task. */
export function fieldsOfTask(task: LoggedTask) {
  return {
    task_id: task.id,
    kind: task.kind,
    request_id: task.request_id,
    account_id: task.account_id,
    key_id: task.key_id,
    model: task.model,
    channel: task.channel_id,
  }
}

/** Writes that a task has changed its state; without prompts, results and texts of vendors. */
export function logTask(
  { services }: Pick<Engine, 'services'>,
  task: LoggedTask,
  message: string,
  more: TaskFields = {},
): void {
  services.log.info({ ...fieldsOfTask(task), ...more }, message)
}

interface TaskFields {
  readonly upstream_id?: string
  readonly status?: string
  readonly code?: string | undefined
  readonly charged?: string
  readonly outcome?: string
  readonly reason?: string
}
