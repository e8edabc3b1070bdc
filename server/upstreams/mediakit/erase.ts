/**
 * Erases subtitles from a video (docs/protocols/mediakit.md#subtitle-erase): horizontal ones in the
 * lower half of the frame, between 1 % and 10 % of its height. The upstream's model is the tool's
 * name. There is no list and no cancellation, but an idempotency key for a repeated submission.
 */

import { readCount } from '../../dialects/usage/read-count.ts'
import { asString, type JsonObject, member } from '../../lib/json.ts'
import { readResultUrl } from '../../lib/result-url.ts'
import { UpstreamFailure } from '../failure.ts'
import { sendWithKey } from '../send-with-key.ts'
import { isUnknownTask, readTaskStatus, submittedAs } from '../task-answer.ts'
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
import { readMediakitAnswer, readMediakitTask } from './read-answer.ts'
import type { MediakitSettings } from './settings.ts'

const TOOLS: readonly string[] = ['erase-video-subtitle', 'erase-video-subtitle-pro']
/** Seconds of the longest video that any vendor in the gateway makes. */
const SECONDS_MAX = 30

type Order = TaskOrder<MediakitSettings>

function prepare({ upstreamModel, parameters }: Order): PreparedTask {
  if (!TOOLS.includes(upstreamModel)) {
    const message = `upstream_model must be one of ${TOOLS.join(', ')}`
    throw new UpstreamFailure('channel_fault', { message })
  }
  const { seconds, resolution } = parameters
  return {
    quantities: { second: readCount(Math.ceil(Number(seconds))) ?? SECONDS_MAX },
    facts: typeof resolution === 'string' ? { resolution } : {},
  }
}

async function submit(wire: Wire, order: Order, attempt: TaskAttempt): Promise<SubmittedTask> {
  const { video_url } = order.parameters
  const { id: client_token, vendorCallbackUrl: callback_url } = attempt
  const body = Buffer.from(JSON.stringify({ video_url, client_token, callback_url }))
  const path = `/api/v1/tools/${order.upstreamModel}`
  const response = await sendWithKey(wire, order.settings, 'POST', path, body)
  const answer = await readMediakitAnswer(response)
  return submittedAs(answer.task_id, response, answer)
}

async function poll(wire: Wire, reference: TaskReference<MediakitSettings>): Promise<TaskPoll> {
  const path = `/api/v1/tasks/${encodeURIComponent(reference.upstreamId)}`
  const response = await sendWithKey(wire, reference.settings, 'GET', path)
  if (await isUnknownTask(response)) return { state: 'gone' }
  return readTask(await readMediakitTask(response))
}

/** A status that nobody documents is an error of the poll, not of the task. */
function readTask(task: JsonObject): TaskPoll {
  const status = readTaskStatus(task.status)
  switch (status) {
    case 'queued':
    case 'processing':
      return { state: status }
    case 'succeeded':
      return readSuccess(task.result)
    case 'failed':
    case 'expired':
      return {
        state: 'failed',
        code: asString(member(task.error, 'code')) ?? 'task_failed',
        message: asString(member(task.error, 'message')) ?? 'the task failed',
      }
    case 'cancelled':
      return { state: 'failed', code: 'cancelled', message: 'cancelled', cancelled: true }
    default:
      throw new UpstreamFailure('failed', { message: `unknown status ${String(task.status)}` })
  }
}

function readSuccess(result: unknown): TaskPoll {
  const videoUrl = readResultUrl(member(result, 'video_url'))
  if (videoUrl === undefined) {
    throw new UpstreamFailure('failed', { message: 'completed without a video_url' })
  }
  const duration = member(result, 'duration')
  const durationField = duration === undefined || duration === null ? {} : { duration }
  return {
    state: 'succeeded',
    result: { video_url: videoUrl, ...durationField },
    ...(durationField.duration === undefined ? {} : { usage: { second: countSeconds(duration) } }),
  }
}

/** Rounds the seconds: a film of five seconds has 121 frames and is stated as 5.04. */
function countSeconds(duration: unknown): number {
  // A figure that is not a number becomes -1, which states nothing: an estimate is charged.
  if (typeof duration !== 'number' || duration < 0) return -1
  return Math.max(1, Math.round(duration))
}

export const mediakitErase: TaskDriver<MediakitSettings> = {
  prepare,
  submit,
  poll,
  repeats: true,
  // The content of callbacks is not documented; one without an id only triggers a poll.
  callbacks: {
    isEnabled: (settings) => settings.callbacks,
    read: (body) => ({ upstreamId: asString(body.task_id) }),
  },
}
