/** Minutes of a recording: creates a task, and returns its state by its id. */
import { z } from 'zod'
import { encodeMinutesTask } from '../../dialects/minutes/minutes-task.ts'
import { sendJson } from '../../http/reply.ts'
import { GatewayError } from '../../lib/errors.ts'
import type { AccountEndpoint, TaskEndpoint } from '../endpoint.ts'
import { minutesSubmission, toMinutesTask } from './minutes-submission.ts'

const TAG = 'Minutes'
/** The products behind it are sold in mainland China only. */
const SITES = ['cn'] as const

const created = z.object({
  id: z.string(),
  request_id: z.string(),
  model: z.string(),
  status: z.literal('processing'),
  created_at: z.iso.datetime(),
})

const spoken = {
  start_ms: z.number(),
  end_ms: z.number(),
  speaker: z.string(),
  text: z.string(),
}

const result = z.looseObject({
  text: z.string(),
  sentences: z.array(
    z.object({
      ...spoken,
      words: z
        .array(z.object({ text: z.string(), start_ms: z.number(), end_ms: z.number() }))
        .optional(),
    }),
  ),
  summary: z.string().optional(),
  chapters: z
    .array(
      z.object({
        start_ms: z.number(),
        end_ms: z.number(),
        title: z.string(),
        summary: z.string(),
      }),
    )
    .optional(),
  todos: z
    .array(
      z.looseObject({
        content: z.string(),
        executors: z.array(z.string()),
        deadline: z.string().optional(),
      }),
    )
    .optional(),
  questions: z.array(z.object({ question: z.string(), answer: z.string() })).optional(),
  translation: z.array(z.object({ ...spoken, translation: z.string() })).optional(),
  summary_model_error: z
    .string()
    .optional()
    .describe('Reason for a missing summary, which is not charged.'),
})

const record = created.extend({
  status: z.enum(['processing', 'succeeded', 'failed']),
  duration: z.number().optional().describe('Seconds.'),
  result: result.optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  callback: z.object({ status: z.string(), attempts: z.int() }).optional(),
  finished_at: z.iso.datetime().optional(),
})

const TASK_ID = 'task_6Tn1Vc5XbY9Qm2Lr4Wd8Zk'
const CREATED = {
  id: TASK_ID,
  request_id: 'req_5YxqZ0b3nD8vKc1TfWmA9h',
  model: 'a-minutes-model',
  status: 'processing',
  created_at: '2026-11-21T09:30:00.000Z',
} satisfies z.input<typeof created>
const DONE = {
  ...CREATED,
  status: 'succeeded',
  duration: 4.82,
  result: {
    text: '大家好，开始吧。',
    sentences: [
      { start_ms: 120, end_ms: 1480, speaker: '1', text: '大家好，' },
      { start_ms: 1700, end_ms: 4820, speaker: '2', text: '开始吧。' },
    ],
    summary: '会议开始。',
    chapters: [{ start_ms: 0, end_ms: 4820, title: '开场', summary: '会议开始。' }],
  },
  finished_at: '2026-11-21T09:30:41.000Z',
} satisfies z.input<typeof record>

export const createMinutes: TaskEndpoint = {
  kind: 'task',
  method: 'POST',
  paths: ['/v1/audio/minutes'],
  envelope: 'flat',
  sites: SITES,
  submission: minutesSubmission,
  documentation: {
    summary: 'Create a minutes task',
    description:
      'Transcribes a recording. `service-minutes` separates speakers and writes a summary' +
      ' and chapters, billed by the recording’s length and the tokens of the summary. ' +
      'It takes wav, mp3, ogg and raw pcm; the sound of videos and of other formats is converted ' +
      'where the gateway has ffmpeg, else refused by name: `GET /v1/models/{id}` lists them. ' +
      '`vendor-minutes` does what `features` lists, billed by length. The file must be ' +
      'smaller than 1 GB and at most two hours long. Poll at most every 30 seconds.',
    tag: TAG,
    answer: created,
    example: (model) => ({
      body: {
        model,
        file_url: 'https://files.example/meeting.mp3',
        features: { summary: true, chapters: true },
      },
      answer: CREATED,
    }),
    errors: [400, 402, 403, 404, 409, 413, 415, 422, 429, 502, 503],
  },
}

export const getMinutes: AccountEndpoint = {
  kind: 'account',
  method: 'GET',
  paths: ['/v1/audio/minutes/:task_id'],
  envelope: 'flat',
  sites: SITES,
  documentation: {
    summary: 'Get a minutes task',
    description:
      'Free of charge; poll it, or wait for the webhook. The result appears when the status is ' +
      '`succeeded`.',
    tag: TAG,
    answer: record,
    example: () => ({ path: `/v1/audio/minutes/${TASK_ID}`, answer: DONE }),
    errors: [403, 404, 503],
  },
  async handle(context, caller, { tasks }) {
    const row = await tasks.find(caller.accountId, context.params.task_id ?? '', 'minutes')
    if (!row) throw new GatewayError('not_found', { message: 'no such task' })
    sendJson(context, 200, encodeMinutesTask(toMinutesTask(row, await tasks.delivery(row))))
  },
}
