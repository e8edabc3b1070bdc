/**
 * Video tasks in the vendor's first protocol (docs/protocols/minimax.md#first-protocol): six or ten
 * seconds; the film is a file with an id of its own; no usage, no list and no cancellation.
 */

import { asString, type JsonObject, member } from '../../../base/lib/json.ts'
import {
  type ContentProblem,
  contentOf,
  correctRules,
  findUntaken,
  judgeVideo,
  sortContent,
} from '../../dialects/video/content.ts'
import { findUntakenInside, judgeText, listMedia } from '../../dialects/video/order.ts'
import { UpstreamFailure } from '../failure.ts'
import { type FoundTask, refuseField, requireUrl, restTasks } from '../rest-tasks.ts'
import { sendWithKey } from '../send-with-key.ts'
import { readTaskStatus } from '../task-answer.ts'
import type { PreparedTask, TaskOrder, TaskPoll } from '../task-driver.ts'
import { firstRulesOf } from './models.ts'
import {
  readBase,
  readDocument,
  readMinimaxAnswer,
  readVerdict,
  refuseBase,
} from './read-answer.ts'
import type { MinimaxSettings } from './settings.ts'
import { withoutRefusedUrl } from './submit.ts'

const TEXT_LENGTH_MAX = 2_000
const LENGTHS: readonly number[] = [6, 10]
const LENGTH_DEFAULT = 6
/** The largest resolution, which exists in the shorter length only. */
const LONG_RESOLUTION = '1080p'
/** The vendor's own fields, forwarded where the caller sends them. */
const OWN_FIELDS = ['prompt_optimizer', 'fast_pretreatment']

type Order = TaskOrder<MinimaxSettings>

function prepare(order: Order): PreparedTask {
  const { parameters, sentFields } = order
  const duration = secondsOf(order)
  const found =
    judgeOwn(order, duration) ??
    judgeVideo({ ...parameters, duration }, sentFields, rulesFor(order)) ??
    findUntaken(parameters, sentFields, ['watermark', ...OWN_FIELDS], true) ??
    findUntakenInside(parameters)
  if (found) throw refuseField(found)
  const resolution = resolutionOf(order)
  return {
    quantities: { second: duration },
    facts: { resolution, audio: false, video_input: false },
    effective: { resolution, duration, generate_audio: false },
  }
}

const rulesFor = ({ upstreamModel, details }: Order) =>
  correctRules(firstRulesOf(upstreamModel), details)

function secondsOf({ parameters, sentFields }: Order): number {
  return sentFields.has('duration') ? Number(parameters.duration) : LENGTH_DEFAULT
}

function resolutionOf(order: Order): string {
  const { parameters, sentFields } = order
  return sentFields.has('resolution') ? String(parameters.resolution) : rulesFor(order).resolution
}

/** Checks the rules of this protocol alone. */
function judgeOwn(order: Order, duration: number): ContentProblem | undefined {
  const { parameters, sentFields } = order
  const long = judgeText(parameters, TEXT_LENGTH_MAX)
  if (long) return long
  if (sentFields.has('ratio') && parameters.ratio !== 'adaptive') {
    return { param: 'ratio', problem: "this model takes only 'adaptive'" }
  }
  const { max } = rulesFor(order).seconds
  if (!LENGTHS.includes(duration) || duration > max) {
    const lengths = LENGTHS.filter((one) => one <= max).join(' or ')
    return { param: 'duration', problem: `this model makes ${lengths} seconds` }
  }
  if (duration > LENGTH_DEFAULT && resolutionOf(order) === LONG_RESOLUTION) {
    return { param: 'duration', problem: `in ${LONG_RESOLUTION} this model makes 6 seconds` }
  }
  return undefined
}

function buildBody(order: Order): JsonObject {
  const { parameters, sentFields, upstreamModel } = order
  const content = contentOf(parameters)
  const media = listMedia(content)
  const urlsOf = (name: string) => media.flatMap(({ role, url }) => (role === name ? [url] : []))
  const [first] = urlsOf('first_frame')
  const [last] = urlsOf('last_frame')
  const subjects = urlsOf('reference_image')
  const [prompt] = sortContent(content).texts
  return {
    model: upstreamModel,
    prompt: prompt || undefined,
    duration: secondsOf(order),
    resolution: resolutionOf(order).toUpperCase(),
    first_frame_image: first || undefined,
    last_frame_image: last || undefined,
    ...(subjects.length > 0 ? { subject_reference: [{ type: 'character', image: subjects }] } : {}),
    ...(sentFields.has('watermark') ? { aigc_watermark: parameters.watermark } : {}),
    ...Object.fromEntries(
      OWN_FIELDS.flatMap((name) => (sentFields.has(name) ? [[name, parameters[name]]] : [])),
    ),
  }
}

/** Here base_resp states why the task failed; in other answers, why the poll was refused. */
function readFailed(task: JsonObject): TaskPoll | undefined {
  if (readTaskStatus(task.status) !== 'failed') return readVerdict(task)
  const { code, message = 'the task failed' } = readBase(task)
  return { state: 'failed', code: code && code !== '0' ? code : 'task_failed', message }
}

function taskOf(document: JsonObject, status: number): JsonObject {
  refuseBase(document, status)
  return document
}

/** Returns the film's address; a failed request is repeated at the next poll. */
async function readSuccess(
  { file_id: fileId, video_width: width, video_height: height }: JsonObject,
  { wire, settings }: FoundTask<MinimaxSettings>,
): Promise<TaskPoll> {
  const id = typeof fileId === 'number' ? String(fileId) : asString(fileId)
  if (!id) throw new UpstreamFailure('failed', { message: 'a success without a file_id' })
  const path = `/v1/files/retrieve?file_id=${encodeURIComponent(id)}`
  const document = await readMinimaxAnswer(await sendWithKey(wire, settings, 'GET', path))
  const videoUrl = requireUrl(member(document.file, 'download_url'), 'a download_url')
  const size = typeof width === 'number' && typeof height === 'number' ? { width, height } : {}
  return { state: 'succeeded', result: { video_url: videoUrl, ...size } }
}

export const videoV1 = withoutRefusedUrl(
  restTasks({
    prepare,
    id: ({ task_id: id }) => id,
    submit: {
      path: () => '/v1/video_generation',
      body: buildBody,
      read: readMinimaxAnswer,
    },
    poll: {
      path: (id) => `/v1/query/video_generation?task_id=${id}`,
      read: readDocument,
      verdict: readFailed,
      task: taskOf,
    },
    result: readSuccess,
  }),
)
