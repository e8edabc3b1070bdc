/**
 * Video tasks in the vendor's second protocol (docs/protocols/minimax.md#second-protocol), which
 * has no list and no cancellation.
 */

import { addCounts, readCount } from '../../dialects/usage/read-count.ts'
import {
  correctRules,
  findUntaken,
  judgeVideo,
  nameRoles,
  sortContent,
} from '../../dialects/video/content.ts'
import { asString, isObject, type JsonObject, member } from '../../lib/json.ts'
import { readResultUrl } from '../../lib/result-url.ts'
import type { Quantities } from '../../lib/units.ts'
import { UpstreamFailure } from '../failure.ts'
import { sendWithKey } from '../send-with-key.ts'
import { isUnknownTask, readTaskStatus } from '../task-answer.ts'
import type {
  PreparedTask,
  SubmittedTask,
  TaskAttempt,
  TaskDriver,
  TaskOrder,
  TaskPoll,
  TaskReference,
} from '../task-driver.ts'
import type { Wire } from '../wire.ts'
import { rulesOf } from './models.ts'
import { readDocument, readVerdict, refuseBase } from './read-answer.ts'
import type { MinimaxSettings } from './settings.ts'
import { submitVideo } from './submit.ts'

const TEXT_LENGTH_MAX = 7_000
/** Fields that are passed on, beside those of every model. */
const TAKEN = ['watermark']
/** Reference images without a fee. */
const FREE_IMAGES = 5
/** Seconds of the longest input video, which are billed like output. */
const INPUT_SECONDS_MAX = 15

type Order = TaskOrder<MinimaxSettings>

function prepare(order: Order): PreparedTask {
  const { parameters, sentFields } = order
  const rules = correctRules(rulesOf(order.upstreamModel), order.details)
  const found =
    judgeVideo(parameters, sentFields, rules) ??
    judgeText(parameters) ??
    findUntaken(parameters, sentFields, TAKEN)
  if (found) {
    const { param, problem } = found
    throw new UpstreamFailure('rejected', { status: 400, message: `${param}: ${problem}`, param })
  }
  const { videos, images } = sortContent(contentOf(parameters))
  const seconds = Number(parameters.duration)
  const resolution = resolutionOf(order)
  return {
    quantities: {
      second: seconds + videos * INPUT_SECONDS_MAX,
      image: Math.max(0, images - FREE_IMAGES),
    },
    facts: { resolution, audio: true, video_input: videos > 0 },
    effective: { resolution, ratio: ratioOf(parameters) },
  }
}

function judgeText(parameters: JsonObject) {
  const { texts } = sortContent(contentOf(parameters))
  const isLong = texts.some((text) => text.length > TEXT_LENGTH_MAX)
  return isLong
    ? { param: 'content', problem: `this model takes at most ${TEXT_LENGTH_MAX} characters` }
    : undefined
}

function contentOf({ content }: JsonObject): readonly unknown[] {
  return Array.isArray(content) ? content : []
}

function resolutionOf({ parameters, sentFields, upstreamModel, details }: Order): string {
  if (sentFields.has('resolution')) return String(parameters.resolution)
  return correctRules(rulesOf(upstreamModel), details).resolution
}

/** The vendor refuses `adaptive` for text alone (docs/protocols/minimax.md#second-protocol). */
function ratioOf(parameters: JsonObject): unknown {
  const { ratio } = parameters
  const textOnly = contentOf(parameters).every((item) => member(item, 'type') === 'text')
  return textOnly && ratio === 'adaptive' ? '16:9' : ratio
}

function buildBody(order: Order): JsonObject {
  const { parameters, sentFields, upstreamModel } = order
  return {
    model: upstreamModel,
    content: nameRoles(contentOf(parameters)),
    resolution: resolutionOf(order),
    duration: parameters.duration,
    ratio: ratioOf(parameters),
    ...(sentFields.has('watermark') ? { aigc_watermark: parameters.watermark } : {}),
  }
}

function submit(wire: Wire, order: Order, attempt: TaskAttempt): Promise<SubmittedTask> {
  const submission = { path: '/v2/video_generation', body: buildBody(order) }
  return submitVideo(wire, order.settings, submission, attempt)
}

async function poll(wire: Wire, reference: TaskReference<MinimaxSettings>): Promise<TaskPoll> {
  const path = `/v2/query/video_generation/${encodeURIComponent(reference.upstreamId)}`
  const response = await sendWithKey(wire, reference.settings, 'GET', path)
  if (await isUnknownTask(response)) return { state: 'gone' }
  const document = await readDocument(response)
  const verdict = readVerdict(document)
  if (verdict) return verdict
  const { task } = document
  if (!isObject(task)) refuseBase(document, response.status)
  if (!isObject(task)) throw new UpstreamFailure('failed', { message: 'an answer without a task' })
  return readTask(task)
}

function readTask(task: JsonObject): TaskPoll {
  const status = readTaskStatus(task.status)
  switch (status) {
    case 'queued':
    case 'processing':
      return { state: status }
    case 'succeeded':
      return readSuccess(task)
    case 'failed':
      return { state: 'failed', ...readError(task, 'task_failed', 'the task failed') }
    case 'expired':
      return { state: 'failed', ...readError(task, 'task_expired', 'the task expired upstream') }
    case 'cancelled':
      return { state: 'failed', code: 'cancelled', message: 'cancelled', cancelled: true }
    default:
      throw new UpstreamFailure('failed', { message: `unknown status ${String(task.status)}` })
  }
}

/** Reads `error`, whose code may be a number. */
function readError({ error }: JsonObject, code: string, message: string) {
  const vendorCode = member(error, 'code')
  return {
    code: typeof vendorCode === 'number' ? String(vendorCode) : (asString(vendorCode) ?? code),
    message: asString(member(error, 'message')) ?? message,
  }
}

function readSuccess(task: JsonObject): TaskPoll {
  const videoUrl = readResultUrl(member(task.content, 'url'))
  if (videoUrl === undefined) {
    throw new UpstreamFailure('failed', { message: 'succeeded without a url' })
  }
  const { resolution, usage } = task
  const result: Record<string, unknown> = { video_url: videoUrl }
  for (const name of ['duration', 'resolution', 'ratio']) {
    if (task[name] !== undefined && task[name] !== null) result[name] = task[name]
  }
  if (isObject(usage)) result.usage = usage
  const quantities = readUsage(usage)
  return {
    state: 'succeeded',
    result,
    usage: quantities,
    facts: typeof resolution === 'string' ? { resolution } : {},
  }
}

/**
 * Reads the billed seconds, input and output together, and the images with a fee. Where one is not
 * stated, what was ordered is charged: a task's duration says nothing of its input videos.
 */
function readUsage(usage: unknown): Quantities | undefined {
  const [total, input, output, images] = [
    'total_seconds',
    'input_seconds',
    'output_seconds',
    'input_image_count',
  ].map((name) => readCount(member(usage, name)))
  const isSplit = input !== undefined && output !== undefined
  const second = total ?? (isSplit ? addCounts(input, output) : undefined)
  if (second === undefined && images === undefined) return undefined
  return {
    ...(second === undefined ? {} : { second }),
    ...(images === undefined ? {} : { image: Math.max(0, images - FREE_IMAGES) }),
  }
}

export const videoV2: TaskDriver<MinimaxSettings> = { prepare, submit, poll }
