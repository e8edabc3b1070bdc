/**
 * Video tasks of both generations of the protocol (docs/protocols/kling.md). Channels with an API
 * key use the newer one, channels with a pair of keys the older one. A lost task is found by the id
 * of its attempt. Tasks cannot be cancelled.
 */
import { asString, isAbsent, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { readDecimal } from '../../dialects/usage/read-count.ts'
import { correctRules } from '../../dialects/video/content.ts'
import { UpstreamFailure } from '../failure.ts'
import { prepareVideo, refuseField, requireUrl, restTasks, takeVideoOrder } from '../rest-tasks.ts'
import { sendWithKey } from '../send-with-key.ts'
import { isUnknownTask, readUpstreamId } from '../task-answer.ts'
import type { TaskAttempt, TaskDriver, TaskOrder, TaskPoll, TaskReference } from '../task-driver.ts'
import type { Wire, WireResponse } from '../wire.ts'
import { klingModelOf, newerNameOf, olderNameOf } from './models.ts'
import { readKlingAnswer } from './read-answer.ts'
import { type KlingSettings, keyOf } from './settings.ts'

type Order = TaskOrder<KlingSettings>
type Reference = TaskReference<KlingSettings>

/** Paths of the older generation. A task is read at the path that created it. */
const OLDER = ['text2video', 'image2video'] as const
const MODES: Readonly<Record<string, string>> = { '720p': 'std', '1080p': 'pro', '4k': '4k' }

const isOlder = ({ api_key: key }: KlingSettings) => key === undefined

/**
 * Returns the order with the sound that it asks for. Throws a refusal for what the model does not
 * support.
 */
function take(order: Order) {
  const rules = klingModelOf(order.upstreamModel)
  const { sound, lastFrame } = rules
  const read = takeVideoOrder(order, rules)
  const { resolution, media } = read
  const isSent = order.sentFields.has('generate_audio')
  const refuse = (param: string, problem: string) => refuseField({ param, problem })
  if (lastFrame && resolution !== lastFrame && media.some(({ role }) => role === 'last_frame')) {
    throw refuse('resolution', `a last frame needs ${lastFrame} at this model`)
  }
  if (sound === 'always' && !read.audio) throw refuse('generate_audio', 'this model makes sound')
  const audio = read.audio && (sound === '1080p' ? resolution === sound : sound !== 'never')
  if (isSent && read.audio && !audio) {
    const place = sound === 'never' ? 'no sound' : 'sound in 1080p only'
    throw refuse('generate_audio', `this model makes ${place}`)
  }
  return {
    ...read,
    audio,
    frameOf: frameOf(media),
    hasSwitch: !['always', 'never'].includes(sound),
  }
}

const frameOf = (media: readonly { readonly role: string; readonly url: string }[]) => {
  return (name: string) => media.find(({ role }) => role === name)?.url
}

function buildBody(order: Order, attempt: TaskAttempt): JsonObject {
  return (isOlder(order.settings) ? olderBody : newerBody)(order, attempt)
}

function newerBody(order: Order, { id }: TaskAttempt): JsonObject {
  const { prompt, resolution, seconds, audio, hasSwitch, sent, frameOf: frame, media } = take(order)
  const { ratio } = order.parameters
  const frames = ['first_frame', 'last_frame'].flatMap((type) => {
    const url = frame(type)
    return url === undefined ? [] : [{ type, url }]
  })
  const text = prompt === undefined ? [] : [{ type: 'prompt', text: prompt }]
  return {
    ...(media.length > 0 ? { contents: [...text, ...frames] } : { prompt }),
    settings: {
      resolution,
      duration: seconds,
      ...(ratio === 'adaptive' ? {} : { aspect_ratio: ratio }),
      ...(hasSwitch ? { audio: audio ? 'native' : 'off' } : {}),
      multi_shot: sent.multi_shot,
    },
    options: {
      external_task_id: id,
      ...(sent.watermark === true ? { watermark_info: { enabled: true } } : {}),
    },
  }
}

function olderBody(order: Order, { id }: TaskAttempt): JsonObject {
  const { prompt, resolution, seconds, audio, hasSwitch, sent, frameOf: frame } = take(order)
  const { ratio } = order.parameters
  return {
    model_name: olderNameOf(order.upstreamModel),
    prompt,
    image: bareOf(frame('first_frame')),
    image_tail: bareOf(frame('last_frame')),
    mode: MODES[resolution],
    duration: String(seconds),
    ...(ratio === 'adaptive' ? {} : { aspect_ratio: ratio }),
    ...(hasSwitch ? { sound: audio ? 'on' : 'off' } : {}),
    multi_shot: sent.multi_shot,
    ...(sent.watermark === true ? { watermark_info: { enabled: true } } : {}),
    external_task_id: id,
  }
}

/** A picture in base64 is sent without the prefix of its data URL. */
const bareOf = (url: string | undefined) => url?.replace(/^data:[^,]{0,100};base64,/i, '')

const hasFrame = ({ content }: JsonObject) =>
  Array.isArray(content) && content.some((item) => member(item, 'type') !== 'text')

const olderPathOf = (parameters: JsonObject) => OLDER[hasFrame(parameters) ? 1 : 0]

function createPathOf({ settings, parameters, upstreamModel }: Order): string {
  if (isOlder(settings)) return `/v1/videos/${olderPathOf(parameters)}`
  const door = hasFrame(parameters) ? 'image-to-video' : 'text-to-video'
  return `/${door}/${encodeURIComponent(newerNameOf(upstreamModel))}`
}

/** Ids of tasks that were created by gateways of version 0.3.0 begin with their path. */
function pollPathOf({ settings, upstreamId, parameters = {} }: Reference): string {
  const named = OLDER.find((one) => upstreamId.startsWith(`${one}/`))
  const path = named ?? (isOlder(settings) ? olderPathOf(parameters) : undefined)
  const id = readUpstreamId(upstreamId.slice(named && named.length + 1))
  if (path && id) return `/v1/videos/${path}/${encodeURIComponent(id)}`
  return `/tasks?task_ids=${encodeURIComponent(upstreamId)}`
}

async function readCreated(response: WireResponse, parameters: JsonObject): Promise<JsonObject> {
  const document = await readKlingAnswer(response, parameters)
  return isObject(document.data) ? document.data : document
}

/** Returns the id in an answer, or in its member `data`, of either generation. */
function idOf({ data, ...task }: JsonObject): unknown {
  const found: unknown = Array.isArray(data) ? data[0] : (data ?? task)
  return readUpstreamId(member(found, 'task_id')) ?? member(found, 'id')
}

/**
 * Returns the task from an answer of either generation. The newer one answers with a list, which is
 * empty for an unknown id.
 */
function taskOf({ data }: JsonObject): JsonObject {
  const task = (Array.isArray(data) ? data[0] : data) as unknown
  if (!isObject(task)) throw new UpstreamFailure('failed', { message: 'an answer without a task' })
  const { task_status: status = task.status, task_status_msg: message = task.message } = task
  return { ...task, status, error: { message } }
}

function readUnknown({ data }: JsonObject): TaskPoll | undefined {
  return Array.isArray(data) && data.length === 0 ? { state: 'gone' } : undefined
}

/** Returns the vendor's bill, in its units or in money. */
function billOf({ billing, final_unit_deduction: units, ...task }: JsonObject): string | undefined {
  const [bill] = Array.isArray(billing) ? (billing as readonly unknown[]) : []
  const money = member(task.final_balance_deduction, 'quota')
  return [units, member(bill, 'amount'), money].map(asString).find(Boolean)
}

const isBilled = (task: JsonObject) => (readDecimal(billOf(task)) ?? 0) > 0

/** The vendor bills the seconds that were ordered. Its units are shown to operators only. */
function readSuccess({ outputs, task_result: result, ...task }: JsonObject): TaskPoll {
  const files = [outputs, member(result, 'videos')].find(Array.isArray) ?? []
  const film = files.find((file) => member(file, 'type') === 'video') ?? files[0]
  const duration = Number(member(film, 'duration'))
  const billed = billOf(task)
  return {
    state: 'succeeded',
    result: {
      video_url: requireUrl(member(film, 'url'), 'a url'),
      ...(duration > 0 ? { duration } : {}),
      ...(billed === undefined ? {} : { usage: { billed } }),
    },
  }
}

/** Returns undefined if there is no task. Throws `failed` for an answer that proves nothing. */
function readRecovered({ data }: JsonObject, attempt: TaskAttempt): string | undefined {
  if (Array.isArray(data) && data.length === 0) return undefined
  const task: unknown = Array.isArray(data) ? data[0] : data
  const id = readUpstreamId(member(task, 'task_id') ?? member(task, 'id'))
  const stated =
    member(task, 'external_id') ?? member(member(task, 'task_info'), 'external_task_id')
  const isOther = !isAbsent(stated) && stated !== attempt.id
  if (id !== undefined && !isOther) return id
  throw new UpstreamFailure('failed', { message: 'an answer without the task that was asked for' })
}

const ask = (wire: Wire, settings: KlingSettings, path: string) =>
  sendWithKey(wire, keyOf(settings, wire), 'GET', path)

export const klingVideo: TaskDriver<KlingSettings> = {
  ...restTasks<KlingSettings>({
    channel: keyOf,
    prepare: (order) => prepareVideo(order, take(order)),
    id: idOf,
    submit: { path: createPathOf, body: buildBody, read: readCreated },
    poll: {
      path: (_, reference) => pollPathOf(reference),
      read: readKlingAnswer,
      verdict: readUnknown,
      task: taskOf,
      isBilled,
    },
    result: readSuccess,
  }),
  rules: ({ upstreamModel, details }) => correctRules(klingModelOf(upstreamModel), details),
  async recover(wire, { settings, attempt }) {
    const own = encodeURIComponent(attempt.id)
    const paths = isOlder(settings)
      ? OLDER.map((path) => `/v1/videos/${path}/${own}`)
      : [`/tasks?external_task_ids=${own}`]
    for (const path of paths) {
      const response = await ask(wire, settings, path)
      if (await isUnknownTask(response)) continue
      const upstreamId = readRecovered(await readKlingAnswer(response), attempt)
      if (upstreamId !== undefined) return { upstreamId }
    }
    return undefined
  },
}

/** Requests one task or a page of tasks; neither is billed. */
export function probeKling(wire: Wire, settings: KlingSettings): Promise<WireResponse> {
  const older = `/v1/videos/${OLDER[0]}?pageNum=1&pageSize=1`
  return ask(wire, settings, isOlder(settings) ? older : '/tasks?task_ids=0')
}
