/**
 * Erases subtitles from a video (docs/protocols/mediakit.md#subtitle-erase): horizontal ones in the
 * lower half of the frame, between 1 % and 10 % of its height. The upstream's model is the tool's
 * name. There is no list and no cancellation, but an idempotency key for a repeated submission.
 */

import { asString, type JsonObject, member } from '../../../base/lib/json.ts'
import { readCount, readDecimal } from '../../dialects/usage/read-count.ts'
import { UpstreamFailure } from '../failure.ts'
import { requireUrl, restTasks } from '../rest-tasks.ts'
import type { PreparedTask, TaskDriver, TaskOrder, TaskPoll } from '../task-driver.ts'
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

function readSuccess({ result }: JsonObject): TaskPoll {
  const videoUrl = requireUrl(member(result, 'video_url'), 'a video_url')
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
  // A figure that is not a number, or not a length, becomes -1 and counts as not stated; the length
  // of the video is then charged.
  const seconds = readDecimal(duration) ?? -1
  return seconds <= 0 ? -1 : Math.max(1, Math.round(seconds))
}

export const mediakitErase: TaskDriver<MediakitSettings> = {
  ...restTasks<MediakitSettings>({
    prepare,
    id: ({ task_id: id }) => id,
    submit: {
      path: ({ upstreamModel }) => `/api/v1/tools/${upstreamModel}`,
      body: ({ parameters: { video_url } }, { id }) => ({ video_url, client_token: id }),
      read: readMediakitAnswer,
    },
    poll: { path: (id) => `/api/v1/tasks/${id}`, read: readMediakitTask },
    result: readSuccess,
  }),
  repeats: true,
  // The content of callbacks is not documented; one without an id only triggers a poll.
  callbacks: {
    isEnabled: (settings) => settings.callbacks,
    read: (body) => ({ upstreamId: asString(body.task_id) }),
  },
}
