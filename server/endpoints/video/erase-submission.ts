/**
 * Creates a subtitle-erase task. Its source is a finished video of the same account, less than 23
 * hours old, so that the vendor's link to it still works.
 */
import { z } from 'zod'
import {
  type EraseTask,
  encodeEraseCallback,
  encodeEraseCreated,
} from '../../dialects/video/erase-task.ts'
import { invalidField } from '../../lib/errors.ts'
import { asString, type JsonObject } from '../../lib/json.ts'
import type { DeliveryState } from '../../tasks/ports.ts'
import type { SourceTask, TaskSubmission } from '../../tasks/submission.ts'
import type { TaskRow } from '../../tasks/task.ts'
import { callbackUrl } from '../callback-url.ts'

const BODY_BYTES_MAX = 64 * 1024
const AGE_MS_MAX = 23 * 3_600_000
const MODEL_DEFAULT = 'subtitle-erase'
const FIELD = 'video_task_id'

const eraseRequest = z.strictObject({
  video_task_id: z
    .string()
    .min(1, 'required, and not empty')
    .describe('From POST /v1/videos/generations; the upstream’s id is accepted too.'),
  callback_url: callbackUrl,
  model: z.string().min(1).optional().describe(`Where there are several; ${MODEL_DEFAULT}.`),
})

/** Returns the members that the video adds to the request. Throws 400 with the reason. */
function useVideo(parameters: JsonObject, video: SourceTask): JsonObject {
  if (video.kind !== 'video') throw invalidField(FIELD, 'is not the id of a video task')
  if (video.state !== 'succeeded') {
    const why = video.state === 'failed' ? 'has failed' : 'has not succeeded yet'
    throw invalidField(FIELD, `the video task ${why}`)
  }
  if (video.finished_ms === null || video.finished_ms >= AGE_MS_MAX) {
    throw invalidField(FIELD, 'the video was generated 23 hours ago or more')
  }
  const { video_url: videoUrl, duration, resolution } = video.result ?? {}
  if (asString(videoUrl) === undefined) throw invalidField(FIELD, 'the video was deleted')
  return {
    ...parameters,
    video_task_id: video.id,
    video_url: videoUrl,
    ...(typeof duration === 'number' && duration > 0 ? { seconds: duration } : {}),
    ...(typeof resolution === 'string' ? { resolution } : {}),
  }
}

function keep({ video_task_id, seconds, resolution }: JsonObject): JsonObject {
  return { video_task_id, seconds, resolution }
}

export function toEraseTask(row: TaskRow, callback?: DeliveryState): EraseTask {
  const { state } = row
  return {
    id: row.id,
    upstreamId: row.upstream_id,
    model: row.model,
    videoTaskId: row.request.video_task_id,
    state: state === 'succeeded' || state === 'failed' ? state : 'processing',
    error:
      row.error_code === null
        ? undefined
        : { code: row.error_code, message: row.error_message ?? 'the task failed' },
    videoUrl: row.result?.video_url,
    callback,
    createdAt: row.created_at,
    finishedAt: row.finished_at ?? undefined,
  }
}

export const eraseSubmission: TaskSubmission = {
  endpoint: 'videos.erase-subtitle',
  kind: 'erase',
  // Older catalogs use the type `video`.
  modelTypes: ['erase', 'video'],
  bodyBytesMax: BODY_BYTES_MAX,
  schema: eraseRequest,
  model: ({ value }) => asString(value.model) ?? MODEL_DEFAULT,
  streams: () => false,
  inputTokens: () => 0,
  parameters: (value) => eraseRequest.parse(value),
  source: { id: (parameters) => asString(parameters.video_task_id) ?? '', use: useVideo },
  keep,
  urls: () => [],
  answer: (task) => encodeEraseCreated(toEraseTask(task)),
  webhookBody: (task) => encodeEraseCallback(toEraseTask(task)),
}
