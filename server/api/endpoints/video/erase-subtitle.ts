/**
 * Subtitle erase, for a video that was generated here: it is of the same account, and less than 23
 * hours old, so that the vendor's link to it still works.
 */
import { z } from 'zod'
import { invalidField } from '../../../base/lib/errors.ts'
import { asString, type JsonObject } from '../../../base/lib/json.ts'
import type { SourceTask } from '../../../work/tasks/submission.ts'
import { callbackUrl } from '../callback-url.ts'
import { TASK_ENDING, type TaskReading, taskEndpoints } from '../task-endpoints.ts'
import { encodeEnding, encodeWebhook, stateWithoutQueue, type TaskView } from '../task-view.ts'

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

const reading: TaskReading = {
  kind: 'erase',
  // Older catalogs use the type `video`.
  modelTypes: ['erase', 'video'],
  bodyBytesMax: BODY_BYTES_MAX,
  schema: eraseRequest,
  model: ({ value }) => asString(value.model) ?? MODEL_DEFAULT,
  parameters: (value) => eraseRequest.parse(value),
  source: { id: (parameters) => asString(parameters.video_task_id) ?? '', use: useVideo },
  keep,
  urls: () => [],
}

const created = z.object({
  id: z.string(),
  upstream_id: z.string().optional(),
  status: z.literal('processing'),
  created_at: z.iso.datetime(),
})

const record = created.extend({
  video_task_id: z.string().describe('The task of the original video.'),
  status: z.enum(['processing', 'succeeded', 'failed']),
  video_url: z
    .string()
    .optional()
    .describe('The gateway’s once copied; before that the vendor’s, valid for 24 hours.'),
  ...TASK_ENDING,
})

const TASK_ID = 'task_9Qm2Lr4Wd8Zk6Tn1Vc5XbY'
const VIDEO_TASK_ID = 'task_3vQx8LmTz0bWkYc5RfNj7H'
const CREATED = {
  id: TASK_ID,
  upstream_id: 'amk-tool-erase-video-subtitle-1355189656834',
  status: 'processing',
  created_at: '2026-11-21T10:02:00.000Z',
} satisfies z.input<typeof created>
const DONE = {
  ...CREATED,
  video_task_id: VIDEO_TASK_ID,
  status: 'succeeded',
  video_url: 'https://media.example/erased.mp4',
  finished_at: '2026-11-21T10:24:31.000Z',
} satisfies z.input<typeof record>

/** Always `processing`, even if the task has ended by now. */
function encodeCreated({ id, upstreamId, createdAt }: TaskView): JsonObject {
  return {
    id,
    ...(upstreamId === null ? {} : { upstream_id: upstreamId }),
    status: 'processing',
    created_at: createdAt.toISOString(),
  }
}

export const { create: createErase, get: getErase } = taskEndpoints({
  paths: ['/v1/videos/erase-subtitle'],
  tag: 'Video',
  reading,
  created,
  record,
  encodeCreated,
  encodeRecord: (task) => ({
    ...encodeCreated(task),
    video_task_id: task.request.video_task_id,
    status: stateWithoutQueue(task),
    ...(task.state === 'succeeded' ? { video_url: task.result.video_url } : {}),
    ...encodeEnding(task),
  }),
  encodeWebhook: (task) =>
    encodeWebhook(task, {
      kind: 'erase',
      beside: { video_task_id: task.request.video_task_id },
      outcome: { video_url: task.result.video_url },
    }),
  hasMedia: true,
  create: {
    summary: 'Erase the subtitles of a video',
    description:
      'The video must have been generated here, by this account, less than 23 hours ago. ' +
      'Erases horizontal subtitles in the lower half of the frame, in Chinese or English,' +
      ' whose characters are 1 % to 10 % of its height; other text of that size there may' +
      ' be erased too. It takes 20 to 30 minutes, at peak 2 to 3 hours: prefer a ' +
      'callback_url to polling. Billed by the seconds of the video. The result is added ' +
      'to the library beside the original.',
    example: () => ({ body: { video_task_id: VIDEO_TASK_ID }, answer: CREATED }),
  },
  get: {
    summary: 'Get a subtitle-erase task',
    description:
      'Free of charge; poll it, or wait for the webhook. The URL of the video appears when the ' +
      'status is `succeeded`.',
    example: DONE,
  },
})
