/**
 * Video tasks in the vendor's second protocol (docs/protocols/minimax.md#second-protocol), which
 * has no list and no cancellation.
 */

import { isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import type { Quantities } from '../../../base/lib/units.ts'
import { readCount, readDecimal } from '../../dialects/usage/read-count.ts'
import {
  contentOf,
  correctRules,
  findUntaken,
  judgeVideo,
  nameRoles,
  sortContent,
} from '../../dialects/video/content.ts'
import { judgeText } from '../../dialects/video/order.ts'
import { UpstreamFailure } from '../failure.ts'
import { pickStated, refuseField, requireUrl, restTasks } from '../rest-tasks.ts'
import type { PreparedTask, TaskOrder, TaskPoll } from '../task-driver.ts'
import { rulesOf } from './models.ts'
import { readDocument, readMinimaxAnswer, readVerdict, refuseBase } from './read-answer.ts'
import type { MinimaxSettings } from './settings.ts'
import { withoutRefusedUrl } from './submit.ts'

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
    judgeText(parameters, TEXT_LENGTH_MAX) ??
    findUntaken(parameters, sentFields, TAKEN)
  if (found) throw refuseField(found)
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

function readSuccess(task: JsonObject): TaskPoll {
  const { resolution, usage } = task
  return {
    state: 'succeeded',
    result: {
      video_url: requireUrl(member(task.content, 'url'), 'a url'),
      ...pickStated(task, ['duration', 'resolution', 'ratio']),
      ...(isObject(usage) ? { usage } : {}),
    },
    usage: readUsage(usage),
    facts: typeof resolution === 'string' ? { resolution } : {},
  }
}

/**
 * Reads the billed seconds, input and output together, and the images with a fee. A begun second
 * counts. Where one is not stated, what was ordered is charged: a task's duration says nothing of
 * its input videos.
 */
function readUsage(usage: unknown): Quantities | undefined {
  const read = (name: string) => readDecimal(member(usage, name))
  const [total, input, output] = ['total', 'input', 'output'].map((one) => read(`${one}_seconds`))
  const images = readCount(read('input_image_count'))
  const isSplit = input !== undefined && output !== undefined
  const seconds = total || (isSplit ? input + output : total)
  const second = seconds === undefined ? undefined : readCount(Math.ceil(seconds))
  if (second === undefined && images === undefined) return undefined
  return {
    ...(second === undefined ? {} : { second }),
    ...(images === undefined ? {} : { image: Math.max(0, images - FREE_IMAGES) }),
  }
}

function taskOf(document: JsonObject, status: number): JsonObject {
  const { task } = document
  if (isObject(task)) return task
  refuseBase(document, status)
  throw new UpstreamFailure('failed', { message: 'an answer without a task' })
}

export const videoV2 = withoutRefusedUrl(
  restTasks({
    prepare,
    id: ({ task_id: id, task }) => id ?? member(task, 'id'),
    submit: {
      path: () => '/v2/video_generation',
      body: buildBody,
      read: readMinimaxAnswer,
    },
    poll: {
      path: (id) => `/v2/query/video_generation/${id}`,
      read: readDocument,
      verdict: readVerdict,
      task: taskOf,
    },
    result: readSuccess,
  }),
)
