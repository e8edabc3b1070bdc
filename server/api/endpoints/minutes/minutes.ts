/** Minutes of a recording: creates a task, and returns its state by its id. */
import { z } from 'zod'
import { isObject, type JsonObject } from '../../../base/lib/json.ts'
import { TASK_ENDING, taskEndpoints } from '../task-endpoints.ts'
import { encodeEnding, encodeWebhook, stateWithoutQueue, type TaskView } from '../task-view.ts'
import { minutesReading } from './minutes-submission.ts'

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
  ...TASK_ENDING,
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

/** Always `processing`, even if the task has ended by now. */
function encodeCreated({ id, requestId, model, createdAt }: TaskView): JsonObject {
  return {
    id,
    request_id: requestId,
    model,
    status: 'processing',
    created_at: createdAt.toISOString(),
  }
}

function encodeResult({ duration, sentences, text, ...parts }: JsonObject, withWords: boolean) {
  const sentenceList = Array.isArray(sentences) ? sentences.filter(isObject) : []
  const plain = sentenceList.map(({ words: _words, ...sentence }) => sentence)
  return { duration, result: { text, sentences: withWords ? sentenceList : plain, ...parts } }
}

function encodeRecord(task: TaskView): JsonObject {
  const { request, result, state } = task
  const withWords = request.need_word_time_series === true
  return {
    ...encodeCreated(task),
    status: stateWithoutQueue(task),
    ...(state === 'succeeded' ? encodeResult(result, withWords) : {}),
    ...encodeEnding(task),
  }
}

export const { create: createMinutes, get: getMinutes } = taskEndpoints({
  paths: ['/v1/audio/minutes'],
  // The products behind it are sold in mainland China only.
  sites: ['cn'],
  tag: 'Minutes',
  reading: minutesReading,
  created,
  record,
  encodeCreated,
  encodeRecord,
  // Without the times of words, which the record has.
  encodeWebhook: (task) =>
    encodeWebhook(task, { kind: 'minutes', outcome: encodeResult(task.result, false) }),
  hasMedia: false,
  create: {
    summary: 'Create a minutes task',
    description:
      'Transcribes a recording. `service-minutes` separates speakers and writes a summary' +
      ' and chapters, billed by the recording’s length and the tokens of the summary. ' +
      'It takes wav, mp3, ogg and raw pcm; the sound of videos and of other formats is converted ' +
      'where the gateway has ffmpeg, else refused by name: `GET /v1/models/{id}` lists them. ' +
      '`vendor-minutes` does what `features` lists, billed by length. The file must be ' +
      'smaller than 1 GB and at most two hours long. Poll at most every 30 seconds.',
    example: (model) => ({
      body: {
        model,
        file_url: 'https://files.example/meeting.mp3',
        features: { summary: true, chapters: true },
      },
      answer: CREATED,
    }),
  },
  get: {
    summary: 'Get a minutes task',
    description:
      'Free of charge; poll it, or wait for the webhook. The result appears when the status is ' +
      '`succeeded`.',
    example: DONE,
  },
})
