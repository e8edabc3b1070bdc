/**
 * Video tasks in the native form of `contents/generations/tasks`, on all four prefixes: a client
 * of that API changes its address and key only.
 */
import { z } from 'zod'
import { checkQuery } from '../../../base/http/check-shape.ts'
import { sendJson } from '../../../base/http/reply.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import type { TaskFilter } from '../../../work/tasks/view-store.ts'
import type { AccountEndpoint } from '../endpoint.ts'
import { onEveryPrefix } from '../native-prefixes.ts'
import { findOwnTask, taskEndpoints, taskPaths, viewTask } from '../task-endpoints.ts'
import { encodeWebhook } from '../task-view.ts'
import {
  CODES_OF_STATUS,
  encodeContentsCreated,
  encodeContentsTask,
  statusOf,
} from './contents-task.ts'
import { removeVideo, videoReading } from './video-tasks.ts'

const TAG = 'Video'
const PAGE_MAX = 500
const PAGE_SIZE_DEFAULT = 20

const PATHS = onEveryPrefix('/contents/generations/tasks')

const created = z.object({
  id: z
    .string()
    .describe('The upstream’s id, or the gateway’s if the upstream’s response was lost.'),
  model: z.string(),
  status: z.string(),
  created_at: z.iso.datetime(),
})

const record = z.looseObject({
  id: z.string(),
  model: z.string(),
  status: z.enum(['queued', 'running', 'succeeded', 'failed', 'cancelled', 'expired']),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  created_at: z.int().describe('Unix seconds.'),
  updated_at: z.int(),
  content: z.looseObject({ video_url: z.string() }).optional(),
  usage: z.looseObject({}).optional(),
})

const TASK_ID = 'cgt-20261121093000-6bbjd'
const DONE = {
  id: TASK_ID,
  model: 'a-video-model',
  status: 'succeeded',
  error: null,
  created_at: 1795253400,
  updated_at: 1795253484,
  content: { video_url: 'https://media.example/video.mp4' },
  usage: { completion_tokens: 108900, total_tokens: 108900 },
  resolution: '720p',
  ratio: '16:9',
  duration: 5,
} satisfies z.input<typeof record>

export const { create: createContentsTask, get: getContentsTask } = taskEndpoints({
  paths: PATHS,
  envelope: 'native',
  tag: TAG,
  reading: videoReading,
  created,
  record,
  encodeCreated: encodeContentsCreated,
  encodeRecord: encodeContentsTask,
  encodeWebhook: (task) =>
    encodeWebhook(task, { id: task.nativeId, outcome: { video_url: task.result.video_url } }),
  hasMedia: true,
  create: {
    summary: 'Create a video task, native form',
    description: 'The same request and price as POST /v1/videos/generations.',
    example: (model) => ({
      body: { model, content: [{ type: 'text', text: 'A river at dawn.' }], duration: 5 },
    }),
  },
  get: {
    summary: 'Get a video task, native form',
    description: 'Free of charge. The URLs of the video appear when the status is `succeeded`.',
    example: DONE,
  },
})

const STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'expired'] as const

const FILTERS: Readonly<
  Record<(typeof STATUSES)[number], Pick<TaskFilter, 'states' | 'codes' | 'otherCodes'>>
> = {
  queued: { states: ['submitting', 'queued'] },
  running: { states: ['processing'] },
  succeeded: { states: ['succeeded'] },
  failed: { states: ['failed'], otherCodes: Object.values(CODES_OF_STATUS).flat() },
  cancelled: { states: ['failed'], codes: CODES_OF_STATUS.cancelled },
  expired: { states: ['failed'], codes: CODES_OF_STATUS.expired },
}

const listQuery = z.object({
  page_num: z.coerce.number().int().min(1).max(PAGE_MAX).default(1),
  page_size: z.coerce.number().int().min(1).max(PAGE_MAX).default(PAGE_SIZE_DEFAULT),
  'filter.status': z.enum(STATUSES).optional(),
  'filter.task_ids': z.string().max(200).optional().describe('Repeatable.'),
  'filter.model': z.string().max(200).optional(),
  'filter.service_tier': z.enum(['default', 'flex']).optional(),
})

export const listContentsTasks: AccountEndpoint = {
  kind: 'account',
  method: 'GET',
  paths: PATHS,
  envelope: 'native',
  documentation: {
    summary: 'List video tasks, native form',
    description: 'Newest first, with the total of all pages.',
    tag: TAG,
    query: listQuery,
    answer: z.object({ items: z.array(record), total: z.int() }),
    example: () => ({ path: '/v1/contents/generations/tasks?page_size=2' }),
    errors: [400, 403, 503],
  },
  async handle(context, caller, services) {
    const query = checkQuery(listQuery, context.query)
    const { page_num: page, page_size: size } = query
    const { 'filter.status': status, 'filter.service_tier': tier } = query
    const model = query['filter.model']
    const ids = context.query.getAll('filter.task_ids').slice(0, PAGE_MAX)
    const { rows, total } = await services.tasks.list({
      accountId: caller.accountId,
      kind: 'video',
      limit: size,
      offset: (page - 1) * size,
      ...(status ? FILTERS[status] : {}),
      tier: tier || undefined,
      model: model || undefined,
      ...(ids.length > 0 ? { ids } : {}),
    })
    const shown = await services.library.withOwnLinks(rows)
    const items = shown.map((row) => encodeContentsTask(viewTask(row)))
    sendJson(context, 200, { items, total })
  },
}

export const deleteContentsTask: AccountEndpoint = {
  kind: 'account',
  method: 'DELETE',
  paths: taskPaths(PATHS),
  envelope: 'native',
  documentation: {
    summary: 'Cancel or delete a video task, native form',
    description:
      'Cancels a queued task and deletes the record of a finished one. A running or ' +
      'cancelled task gets 409.',
    tag: TAG,
    answer: z.object({}),
    example: () => ({ path: `/v1/contents/generations/tasks/${TASK_ID}`, answer: {} }),
    errors: [403, 404, 409, 502, 503],
  },
  async handle(context, caller, services) {
    const row = await findOwnTask(context, caller, services, 'video')
    // As in that API, a repeated cancellation does not remove the record of a cancelled task.
    if (statusOf(viewTask(row)) === 'cancelled') throw cancelledAlready()
    await removeVideo(row, services)
    sendJson(context, 200, {})
  },
}

function cancelledAlready(): GatewayError {
  return new GatewayError('conflict', { message: 'this task is already cancelled' })
}
