/** Image tasks: a worker makes the call of POST /v1/images/generations. */

import { z } from 'zod'
import type { JsonObject } from '../../../base/lib/json.ts'
import { TASK_STATES } from '../../../base/lib/kinds-and-states.ts'
import { explainNoImage, readImagesResult } from '../../../wire/dialects/images/read-result.ts'
import type { AnswerTools, CallResult } from '../../../work/tasks/submission.ts'
import { callbackUrl } from '../callback-url.ts'
import { CALL_ERRORS } from '../endpoint.ts'
import { TASK_CHARGE, type TaskReading, taskEndpoints } from '../task-endpoints.ts'
import { encodeCharge, encodeWebhook, type TaskView, toSeconds } from '../task-view.ts'
import { imageMetering, imageRequest } from './image-request.ts'

/** Members that the worker removes: it does not stream, and results are always stored as links. */
const REMOVED = ['callback_url', 'stream', 'partial_images', 'response_format']
const KEPT = ['n', 'size', 'quality', 'style']

const asyncRequest = imageRequest.extend({ callback_url: callbackUrl })

async function read(document: unknown, { keep, byToken }: AnswerTools): Promise<CallResult> {
  const result = await readImagesResult(document, { keep, showUsage: byToken })
  return result ? { result } : explainNoImage(document)
}

function keepParameters(parameters: JsonObject): JsonObject {
  const kept = KEPT.filter((name) => parameters[name] !== undefined && parameters[name] !== null)
  return Object.fromEntries(kept.map((name) => [name, parameters[name]]))
}

const reading: TaskReading = {
  ...imageMetering,
  kind: 'image',
  schema: asyncRequest,
  parameters: (value) => asyncRequest.parse(value),
  keep: keepParameters,
  urls: () => [],
  call: {
    metering: imageMetering,
    removed: REMOVED,
    galleryDetails: ({ prompt }) => ({ prompt }),
    read,
  },
}

const created = z.object({
  id: z.string(),
  status: z.literal('queued'),
  model: z.string(),
  created_at: z.int().describe('Unix seconds.'),
})

const record = created.extend({
  status: z.enum(TASK_STATES),
  error: z.string().optional().describe('Only for failed tasks.'),
  result: z
    .object({
      created: z.int().optional().describe('Unix seconds.'),
      data: z.array(z.looseObject({ url: z.string() })),
      usage: z.looseObject({}).optional().describe('Only for models billed by token.'),
    })
    .optional(),
  ...TASK_CHARGE,
})

const TASK_ID = 'task_5Wd8Zk6Tn1Vc5XbY9Qm2Lr'
const CREATED = {
  id: TASK_ID,
  status: 'queued',
  model: 'an-image-model',
  created_at: 1_795_253_400,
} satisfies z.input<typeof created>
const DONE = {
  ...CREATED,
  status: 'succeeded',
  result: { created: 1_795_253_412, data: [{ url: 'https://media.example/image.png' }] },
  charged: '0.25',
  currency: 'CNY',
} satisfies z.input<typeof record>

/** Always `queued`, even if the task has ended by now. */
function encodeCreated({ id, model, createdAt }: TaskView): JsonObject {
  return { id, status: 'queued', model, created_at: toSeconds(createdAt) }
}

export const { create: createImageTask, get: getImageTask } = taskEndpoints({
  paths: ['/v1/images/async'],
  tag: 'Images',
  reading,
  created,
  record,
  encodeCreated,
  encodeRecord: (task) => ({
    ...encodeCreated(task),
    status: task.state,
    ...(task.error ? { error: task.error.message } : {}),
    ...(task.state === 'succeeded' ? { result: task.result } : {}),
    ...encodeCharge(task),
  }),
  encodeWebhook: (task) => encodeWebhook(task, { kind: 'image', outcome: { result: task.result } }),
  hasMedia: true,
  create: {
    summary: 'Create images as a task',
    description:
      'Takes the request of POST /v1/images/generations and returns a task at once. The ' +
      'images are added to the gallery and returned as links, whatever response_format ' +
      'says; stream is ignored. A failed task costs nothing.',
    example: (model) => ({
      body: { model, prompt: 'A river at dawn, in ink.' },
      answer: { ...CREATED, model },
    }),
    // A worker makes the call, so its failures are reported by the task.
    errors: CALL_ERRORS.filter((status) => status !== 502),
  },
  get: {
    summary: 'Get an image task',
    description: 'Poll every 3 to 5 seconds at most, or use a callback_url.',
    example: DONE,
  },
})
