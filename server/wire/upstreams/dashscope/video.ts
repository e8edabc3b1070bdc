/** Video tasks (docs/protocols/dashscope.md#videos): polled and listed; there are no callbacks. */
import {
  asString,
  isObject,
  type JsonObject,
  member,
  tryParseJson,
} from '../../../base/lib/json.ts'
import { readDecimal } from '../../dialects/usage/read-count.ts'
import { correctRules } from '../../dialects/video/content.ts'
import { UpstreamFailure } from '../failure.ts'
import { listPages, prepareVideo, requireUrl, restTasks, takeVideoOrder } from '../rest-tasks.ts'
import { sendWithKey } from '../send-with-key.ts'
import { readUpstreamId } from '../task-answer.ts'
import type { ListedTask, TaskDriver, TaskOrder, TaskPoll } from '../task-driver.ts'
import type { Wire, WireResponse } from '../wire.ts'
import { videoFamilyOf } from './families.ts'
import { readCreation, readDashscope } from './read-failure.ts'
import type { DashscopeSettings } from './settings.ts'

const CREATE = '/api/v1/services/aigc/video-generation/video-synthesis'
const TASKS = '/api/v1/tasks/'
type Order = TaskOrder<DashscopeSettings>

const rulesOf = ({ upstreamModel }: Order) => videoFamilyOf(upstreamModel)

function buildBody(order: Order): JsonObject {
  const { ratio, duration } = order.parameters
  const rules = rulesOf(order)
  const { prompt, media, resolution, sent } = takeVideoOrder(order, rules)
  const { negative_prompt, generate_audio: audio, ...own } = sent
  const word = (role: string) => (role === 'reference_video' ? rules.videoWord : role)
  return {
    model: order.upstreamModel,
    input: {
      prompt,
      negative_prompt,
      ...(media.length > 0
        ? { media: media.map(({ role, url }) => ({ type: word(role), url })) }
        : {}),
    },
    // The resolution is always sent, because the vendor's default is the most expensive one.
    parameters: {
      resolution: resolution.toUpperCase(),
      duration,
      ...(ratio === 'adaptive' ? {} : { ratio }),
      audio,
      ...own,
      seed: own.seed === -1 ? undefined : own.seed,
    },
  }
}

const outputOf = (document: JsonObject) => (isObject(document.output) ? document.output : document)

/** A task's code and message stand beside its status, its usage beside the task. */
function taskOf(document: JsonObject): JsonObject {
  const { task_status: status, code, message, video_url: url } = outputOf(document)
  return { status, error: { code, message }, url, usage: document.usage }
}

/** An id that is unknown, or older than a day, is stated under HTTP 200. */
function readUnknown(document: JsonObject): TaskPoll | undefined {
  return outputOf(document).task_status === 'UNKNOWN' ? { state: 'gone' } : undefined
}

function usageOf({ usage }: JsonObject): unknown {
  return typeof usage === 'string' ? tryParseJson(Buffer.from(usage)) : usage
}

function readSuccess({ url, ...task }: JsonObject): TaskPoll {
  const stated = usageOf(task)
  const [second, side] = [secondsOf(stated), sideOf(member(stated, 'SR'))]
  const output = readDecimal(member(stated, 'output_video_duration')) ?? 0
  const ratio = asString(member(stated, 'ratio'))
  return {
    state: 'succeeded',
    result: {
      video_url: requireUrl(url, 'a video_url'),
      ...(output > 0 ? { duration: output } : {}),
      ...(side ? { resolution: `${side}p` } : {}),
      ...(ratio === undefined ? {} : { ratio }),
      ...(isObject(stated) ? { usage: stated } : {}),
    },
    ...(second === undefined ? {} : { usage: { second } }),
    ...(side ? { facts: { resolution: `${side}p` } } : {}),
  }
}

/** Reads the billed seconds, input and output together; a begun second counts. */
function secondsOf(usage: unknown): number | undefined {
  const read = (name: string) => readDecimal(member(usage, name))
  const [input = 0, output] = [read('input_video_duration'), read('output_video_duration')]
  const sum = output === undefined ? undefined : input + output
  const stated = [read('duration'), sum, read('video_duration')]
  const seconds = stated.find((one) => one !== undefined && one > 0)
  return seconds === undefined ? undefined : Math.ceil(seconds)
}

/** Reads the short side, which picks the price: 720, also as `720P`. */
function sideOf(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : (asString(value) ?? '')
  return /^(\d{3,4})p?$/i.exec(text)?.[1]
}

/** Throws `failed` for a row that cannot be read, because it may be the wanted task. */
function readListed(row: unknown): ListedTask {
  const [id, at] = [readUpstreamId(member(row, 'task_id')), Number(member(row, 'gmt_create'))]
  const createdAt = new Date(at)
  if (id !== undefined && at > 0 && createdAt.getTime() > 0) return { upstreamId: id, createdAt }
  throw new UpstreamFailure('failed', { message: 'a listed task without its id or its time' })
}

export const dashscopeVideo: TaskDriver<DashscopeSettings> = {
  ...restTasks<DashscopeSettings>({
    prepare: (order) => prepareVideo(order, takeVideoOrder(order, rulesOf(order))),
    id: (document) => outputOf(document).task_id,
    submit: {
      path: () => CREATE,
      headers: { 'x-dashscope-async': 'enable' },
      body: buildBody,
      read: async (response, request) => outputOf(await readCreation(response, request)),
    },
    poll: {
      path: (id) => TASKS + id,
      read: readDashscope,
      verdict: readUnknown,
      task: taskOf,
      isBilled: (task) => secondsOf(usageOf(task)) !== undefined,
    },
    result: readSuccess,
  }),
  rules: ({ upstreamModel, details }) => correctRules(videoFamilyOf(upstreamModel), details),
  /** Resolves with false for a task that runs: the next poll states how it ends. */
  async cancel(wire, { settings, upstreamId }) {
    const path = `${TASKS}${encodeURIComponent(upstreamId)}/cancel`
    const response = await sendWithKey(wire, settings, 'POST', path)
    const refused = await readDashscope(response).then(
      () => undefined,
      (failure: unknown) => failure,
    )
    if (refused === undefined) return true
    if (refused instanceof UpstreamFailure && response.status === 400) return false
    throw refused
  },
  list: (wire, { settings, upstreamModel, since }) =>
    listPages(async (page) => {
      const query = `?model_name=${encodeURIComponent(upstreamModel)}&page_no=${page}&page_size=100`
      const response = await sendWithKey(wire, settings, 'GET', TASKS + query)
      const { data, total_page: pages } = await readDashscope(response)
      if (!Array.isArray(data)) throw new UpstreamFailure('failed', { message: 'no list of tasks' })
      const isLast = data.length === 0 || page >= Number(pages ?? Number.NaN)
      return { tasks: data.map(readListed), isLast }
    }, since),
}

/** Lists at most one task of the account, which costs nothing. */
export function probeTasks(wire: Wire, settings: DashscopeSettings): Promise<WireResponse> {
  return sendWithKey(wire, settings, 'GET', `${TASKS}?page_no=1&page_size=1`)
}
