/**
 * Builds drivers for vendors that use a key and JSON: one request creates a task, another reads it.
 * A driver states its paths and how to read its documents, and may replace any method that is built
 * here.
 */
import { asString, type JsonObject, member, printValue } from '../../base/lib/json.ts'
import { readResultUrl } from '../../base/lib/result-url.ts'
import type { VideoRules } from '../dialects/video/content.ts'
import { readVideoOrder, type VideoOrder } from '../dialects/video/order.ts'
import { UpstreamFailure } from './failure.ts'
import { type KeyedChannel, sendWithKey } from './send-with-key.ts'
import {
  isUnknownTask,
  readSubmitted,
  readTaskStatus,
  readUpstreamId,
  refuseEnvelope,
  submittedAs,
} from './task-answer.ts'
import type {
  ListedTask,
  PreparedTask,
  TaskAttempt,
  TaskDriver,
  TaskOrder,
  TaskPoll,
  TaskReference,
} from './task-driver.ts'
import type { Wire, WireResponse } from './wire.ts'

/** The settings of a channel, with a key or with something that generates keys. */
type TaskChannel = Omit<KeyedChannel, 'api_key'> & { readonly api_key?: string | undefined }

/** A task that was read, and the wire for requests about its result. */
export interface FoundTask<Settings> extends TaskReference<Settings> {
  readonly wire: Wire
}

export interface RestTasks<Settings extends TaskChannel> {
  readonly prepare: TaskDriver<Settings>['prepare']
  /** Returns the task's id in the answer to its creation or to a poll. */
  readonly id: (document: JsonObject) => unknown
  /** Returns the key of a request, where it is not the setting `api_key`. */
  readonly channel?: (settings: Settings, wire: Wire) => KeyedChannel
  /** The request that creates a task; an attempt's callback URL joins its body. */
  readonly submit: {
    readonly path: (order: TaskOrder<Settings>) => string
    readonly headers?: KeyedChannel['headers']
    readonly body: (order: TaskOrder<Settings>, attempt: TaskAttempt) => JsonObject
    /** Returns the document of the answer. Throws the refusal that it states. */
    readonly read: (response: WireResponse, parameters: JsonObject) => Promise<JsonObject>
  }
  /** The request that reads a task. */
  readonly poll: {
    /** `id` is encoded for a path or a query. */
    readonly path: (id: string, reference: TaskReference<Settings>) => string
    /** Returns the document of the answer. Throws the refusal of the query. */
    readonly read: (response: WireResponse) => Promise<JsonObject>
    /** Returns an end that the document states in place of a status. */
    readonly verdict?: (document: JsonObject) => TaskPoll | undefined
    /** Returns the task in the document, where it is not the document itself. */
    readonly task?: (document: JsonObject, status: number) => JsonObject
    /** Returns true if the task states that it is billed, however it has ended. */
    readonly isBilled?: (task: JsonObject) => boolean
  }
  /** Reads a task that has succeeded. */
  readonly result: (task: JsonObject, found: FoundTask<Settings>) => TaskPoll | Promise<TaskPoll>
}

/** Returns the driver's methods. */
export function restTasks<Settings extends TaskChannel>({
  prepare,
  id,
  channel = (settings) => ({ ...settings, api_key: settings.api_key ?? '' }),
  submit,
  poll,
  result,
}: RestTasks<Settings>): TaskDriver<Settings> {
  return {
    prepare,
    async submit(wire, order, attempt) {
      const callback = { callback_url: attempt.vendorCallbackUrl }
      const body = Buffer.from(JSON.stringify({ ...submit.body(order, attempt), ...callback }))
      const keyed = channel(order.settings, wire)
      const target = submit.headers ? { ...keyed, headers: submit.headers } : keyed
      const response = await sendWithKey(wire, target, 'POST', submit.path(order), body)
      const readAnswer = async (read: WireResponse) => {
        const answer = await submit.read(read, order.parameters)
        return submittedAs(id(answer), read, answer)
      }
      return await readSubmitted(response, readAnswer, id)
    },
    async poll(wire, reference) {
      const path = poll.path(encodeURIComponent(reference.upstreamId), reference)
      const keyed = channel(reference.settings, wire)
      const response = await sendWithKey(wire, keyed, 'GET', path)
      if (await isUnknownTask(response)) return { state: 'gone' }
      const document = await poll.read(response)
      refuseEnvelope(document.status, id(document), document.error)
      const read = async () => {
        const verdict = poll.verdict?.(document)
        if (verdict) return verdict
        const task = poll.task?.(document, response.status) ?? document
        const unfinished = readUnfinished(task)
        if (unfinished) return withBill(unfinished, poll.isBilled?.(task))
        return await result(task, { ...reference, wire })
      }
      return withOtherId(await read(), id(document), reference)
    },
  }
}

/** Returns the state of a task that has not succeeded. Throws for an undocumented status word. */
export function readUnfinished(task: JsonObject): TaskPoll | undefined {
  const status = readTaskStatus(task.status)
  switch (status) {
    case 'queued':
    case 'processing':
      return { state: status }
    case 'succeeded':
      return undefined
    case 'failed':
      return { state: 'failed', ...readError(task, 'task_failed', 'the task failed') }
    case 'expired':
      return { state: 'failed', ...readError(task, 'task_expired', 'the task expired upstream') }
    case 'cancelled': {
      const message = 'the task was cancelled'
      return { state: 'failed', code: 'cancelled', message, cancelled: true }
    }
    default:
      throw new UpstreamFailure('failed', { message: `unknown status ${printValue(task.status)}` })
  }
}

/** Returns the poll; a task that failed with the bill that its upstream states. */
export function withBill(poll: TaskPoll, isBilled = false): TaskPoll {
  return poll.state === 'failed' && isBilled ? { ...poll, isBilled } : poll
}

/** Returns the poll with the id that its answer names, if that is not the task's. */
export function withOtherId(
  poll: TaskPoll,
  named: unknown,
  { upstreamId }: Pick<TaskReference<unknown>, 'upstreamId'>,
): TaskPoll {
  const otherId = readUpstreamId(named)
  return otherId === undefined || otherId === upstreamId ? poll : { ...poll, otherId }
}

/** Reads `error`, whose code may be a number. */
function readError({ error }: JsonObject, code: string, message: string) {
  const vendorCode = member(error, 'code')
  return {
    code: typeof vendorCode === 'number' ? String(vendorCode) : (asString(vendorCode) ?? code),
    message: asString(member(error, 'message')) ?? message,
  }
}

/** Returns the address of a result. Throws `failed` without one, so that the task is polled on. */
export function requireUrl(value: unknown, name: string): string {
  const url = readResultUrl(value)
  if (url === undefined)
    throw new UpstreamFailure('failed', { message: `a success without ${name}` })
  return url
}

/** Returns those of `names` that the task states. */
export function pickStated(task: JsonObject, names: readonly string[]): Record<string, unknown> {
  const stated = (name: string) => task[name] !== undefined && task[name] !== null
  return Object.fromEntries(names.filter(stated).map((name) => [name, task[name]]))
}

/** Returns the refusal of an order whose field the model does not take. */
export function refuseField(found: { readonly param: string; readonly problem: string }) {
  const { param, problem } = found
  return new UpstreamFailure('rejected', { status: 400, message: `${param}: ${problem}`, param })
}

/** Reads an order under a model's rules. Throws the refusal of what the model does not take. */
export function takeVideoOrder(order: TaskOrder<unknown>, rules: VideoRules): VideoOrder {
  const read = readVideoOrder(order, rules)
  if ('problem' in read) throw refuseField(read)
  return read
}

/** Returns an order as most vendors of videos take it: by seconds, resolution and sound. */
export function prepareVideo(
  { parameters: { duration, ratio } }: TaskOrder<unknown>,
  { seconds, resolution, audio, hasVideo }: VideoOrder,
): PreparedTask {
  return {
    quantities: { second: seconds },
    facts: { resolution, audio, video_input: hasVideo },
    effective: { resolution, duration, ratio, generate_audio: audio },
  }
}

/**
 * The most pages that a vendor's list can have for the time in which an answer may have been lost.
 */
const PAGES_MAX = 20

/** Reads a list page by page. Throws `failed` for an endless one. */
export async function listPages(
  readPage: (page: number) => Promise<{ tasks: readonly ListedTask[]; isLast: boolean }>,
  since: Date,
): Promise<readonly ListedTask[]> {
  const found: ListedTask[] = []
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const { tasks, isLast } = await readPage(page)
    found.push(...tasks.filter(({ createdAt }) => createdAt >= since))
    if (isLast) return found
  }
  // The unread pages may contain the task, so its absence is not known.
  throw new UpstreamFailure('failed', { message: 'the list has more pages than the gateway reads' })
}
