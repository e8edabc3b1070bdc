/** Subtitle erase: creates a task for a video that was generated here, and returns its state. */
import { z } from 'zod'
import { encodeEraseTask } from '../../dialects/video/erase-task.ts'
import { sendJson } from '../../http/reply.ts'
import { GatewayError } from '../../lib/errors.ts'
import type { AccountEndpoint, TaskEndpoint } from '../endpoint.ts'
import { eraseSubmission, toEraseTask } from './erase-submission.ts'

const TAG = 'Video'

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
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  callback: z.object({ status: z.string(), attempts: z.int() }).optional(),
  finished_at: z.iso.datetime().optional(),
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

export const createErase: TaskEndpoint = {
  kind: 'task',
  method: 'POST',
  paths: ['/v1/videos/erase-subtitle'],
  envelope: 'flat',
  submission: eraseSubmission,
  documentation: {
    summary: 'Erase the subtitles of a video',
    description:
      'The video must have been generated here, by this account, less than 23 hours ago. ' +
      'Erases horizontal subtitles in the lower half of the frame, in Chinese or English,' +
      ' whose characters are 1 % to 10 % of its height; other text of that size there may' +
      ' be erased too. It takes 20 to 30 minutes, at peak 2 to 3 hours: prefer a ' +
      'callback_url to polling. Billed by the seconds of the video. The result is added ' +
      'to the library beside the original.',
    tag: TAG,
    answer: created,
    example: () => ({ body: { video_task_id: VIDEO_TASK_ID }, answer: CREATED }),
    errors: [400, 402, 403, 404, 409, 413, 415, 422, 429, 502, 503],
  },
}

export const getErase: AccountEndpoint = {
  kind: 'account',
  method: 'GET',
  paths: ['/v1/videos/erase-subtitle/:task_id'],
  envelope: 'flat',
  documentation: {
    summary: 'Get a subtitle-erase task',
    description:
      'Free of charge; poll it, or wait for the webhook. The URL of the video appears when the ' +
      'status is `succeeded`.',
    tag: TAG,
    answer: record,
    example: () => ({ path: `/v1/videos/erase-subtitle/${TASK_ID}`, answer: DONE }),
    errors: [403, 404, 503],
  },
  async handle(context, caller, { tasks, library }) {
    const row = await tasks.find(caller.accountId, context.params.task_id ?? '', 'erase')
    if (!row) throw new GatewayError('not_found', { message: 'no such task' })
    const [shown = row] = await library.withOwnLinks([row])
    sendJson(context, 200, encodeEraseTask(toEraseTask(shown, await tasks.delivery(row))))
  },
}
