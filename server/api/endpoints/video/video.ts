/** Video tasks in the gateway's own form: create, get, list, cancel. */

import { z } from 'zod'
import { checkQuery } from '../../../base/http/check-shape.ts'
import { toPage } from '../../../base/http/page.ts'
import { sendJson } from '../../../base/http/reply.ts'
import type { JsonObject } from '../../../base/lib/json.ts'
import { TASK_STATES } from '../../../base/lib/kinds-and-states.ts'
import { page } from '../codecs.ts'
import type { AccountEndpoint } from '../endpoint.ts'
import { findOwnTask, TASK_ENDING, taskEndpoints, taskPaths, viewTask } from '../task-endpoints.ts'
import { encodeEnding, encodeWebhook, type TaskView } from '../task-view.ts'
import { statusOf } from './contents-task.ts'
import { VIDEO_RESULT_FIELDS } from './video-request.ts'
import { removeVideo, videoReading } from './video-tasks.ts'

const LIMIT_DEFAULT = 20
const LIMIT_MAX = 200
const TAG = 'Video'
const PATH = '/v1/videos/generations'

const created = z.object({
  id: z.string().describe('The gateway’s id; upstream_id is accepted wherever it is.'),
  upstream_id: z
    .string()
    .nullable()
    .describe('null if the vendor’s response was lost, while the gateway searches for the task.'),
  model: z.string(),
  status: z.enum(TASK_STATES),
  created_at: z.iso.datetime(),
})

const record = created.extend({
  video_url: z
    .string()
    .optional()
    .describe('The gateway’s once copied; before that the vendor’s, valid for 24 hours.'),
  last_frame_url: z.string().optional(),
  duration: z.number().optional(),
  resolution: z.string().optional(),
  ratio: z.string().optional(),
  seed: z.number().optional(),
  usage: z.looseObject({}).optional(),
  ...TASK_ENDING,
})

const TASK_ID = 'task_3vQx8LmTz0bWkYc5RfNj7H'
const CREATED = {
  id: TASK_ID,
  upstream_id: 'cgt-20261121093000-6bbjd',
  model: 'a-video-model',
  status: 'queued',
  created_at: '2026-11-21T09:30:00.000Z',
} satisfies z.input<typeof created>
const DONE = {
  ...CREATED,
  status: 'succeeded',
  video_url: 'https://media.example/video.mp4',
  duration: 5,
  resolution: '720p',
  ratio: '16:9',
  seed: 78674,
  usage: { completion_tokens: 108900, total_tokens: 108900 },
  finished_at: '2026-11-21T09:31:24.000Z',
  charged: '5.0094',
  currency: 'CNY',
} satisfies z.input<typeof record>

function encodeCreated(task: TaskView): JsonObject {
  return {
    id: task.id,
    upstream_id: task.upstreamId,
    model: task.model,
    status: task.state,
    created_at: task.createdAt.toISOString(),
  }
}

function encodeRecord(task: TaskView): JsonObject {
  const shown = [...VIDEO_RESULT_FIELDS, 'usage'].flatMap((name) =>
    task.result[name] === undefined ? [] : [[name, task.result[name]] as const],
  )
  return { ...encodeCreated(task), ...Object.fromEntries(shown), ...encodeEnding(task) }
}

export const { create: createVideo, get: getVideo } = taskEndpoints({
  paths: [PATH],
  tag: TAG,
  reading: videoReading,
  created,
  record,
  encodeCreated,
  encodeRecord,
  encodeWebhook: (task) => encodeWebhook(task, { outcome: { video_url: task.result.video_url } }),
  hasMedia: true,
  create: {
    summary: 'Create a video task',
    description:
      'The hold is taken now and settled on the actual output; a failed task costs ' +
      'nothing. Valid combinations of content depend on the model and are checked before ' +
      'the hold.',
    example: (model) => ({
      body: {
        model,
        content: [{ type: 'text', text: 'A river at dawn, slow camera.' }],
        duration: 5,
      },
      answer: CREATED,
    }),
  },
  get: {
    summary: 'Get a video task',
    description:
      'Free of charge; poll it, or wait for the webhook. The URLs of the video appear when the ' +
      'status is `succeeded`.',
    example: DONE,
  },
})

const listQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT),
  cursor: z
    .string()
    .regex(/^(?:task_[0-9A-Za-z]{1,64})?$/, 'not a cursor of this list')
    .optional()
    .describe('next_cursor of the previous page.'),
  model: z.string().max(200).optional(),
  status: z.enum(TASK_STATES).optional(),
})

export const listVideos: AccountEndpoint = {
  kind: 'account',
  method: 'GET',
  paths: [PATH],
  envelope: 'flat',
  documentation: {
    summary: 'List video tasks',
    description: 'Newest first.',
    tag: TAG,
    query: listQuery,
    answer: page(record),
    example: () => ({ path: `${PATH}?limit=2` }),
    errors: [400, 403, 503],
  },
  async handle(context, caller, services) {
    const { limit, cursor, model, status } = checkQuery(listQuery, context.query)
    const states = status === 'queued' ? ['submitting', 'queued'] : status ? [status] : undefined
    const { rows } = await services.tasks.list({
      accountId: caller.accountId,
      kind: 'video',
      limit: limit + 1,
      after: cursor || undefined,
      model: model || undefined,
      states,
    })
    const tasks = toPage(rows, limit, 'id')
    const shown = await services.library.withOwnLinks(tasks.data)
    const data = shown.map((row) => encodeRecord(viewTask(row)))
    sendJson(context, 200, { ...tasks, data })
  },
}

export const cancelVideo: AccountEndpoint = {
  kind: 'account',
  method: 'DELETE',
  paths: taskPaths([PATH]),
  envelope: 'flat',
  documentation: {
    summary: 'Cancel or remove a video task',
    description:
      'Cancels a queued task at no cost and hides a finished one. A running task gets ' +
      '409, and a cancelled one stays as it is. Returns the task as it is afterwards.',
    tag: TAG,
    answer: record,
    example: () => ({ path: `${PATH}/${TASK_ID}`, answer: DONE }),
    errors: [403, 404, 409, 502, 503],
  },
  async handle(context, caller, services) {
    const row = await findOwnTask(context, caller, services, 'video')
    // A client repeats a cancellation whose answer was lost, so the task must still say how it
    // ended.
    if (statusOf(viewTask(row)) !== 'cancelled') await removeVideo(row, services)
    const after = (await services.tasks.find(caller.accountId, row.id, 'video')) ?? row
    sendJson(context, 200, encodeRecord(viewTask(after)))
  },
}
