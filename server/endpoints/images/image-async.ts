/** Image tasks: creates one, and returns its state by its id. */
import { z } from 'zod'
import { encodeImageTask } from '../../dialects/images/image-task.ts'
import { sendJson } from '../../http/reply.ts'
import { GatewayError } from '../../lib/errors.ts'
import type { AccountEndpoint, TaskEndpoint } from '../endpoint.ts'
import { imageSubmission, toImageTask } from './image-submission.ts'

const TAG = 'Images'

const created = z.object({
  id: z.string(),
  status: z.literal('queued'),
  model: z.string(),
  created_at: z.int().describe('Unix seconds.'),
})

const record = created.extend({
  status: z.enum(['queued', 'processing', 'succeeded', 'failed']),
  error: z.string().optional().describe('Only for failed tasks.'),
  result: z
    .object({
      created: z.int().optional().describe('Unix seconds.'),
      data: z.array(z.looseObject({ url: z.string() })),
      usage: z.looseObject({}).optional().describe('Only for models billed by token.'),
    })
    .optional(),
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
} satisfies z.input<typeof record>

export const createImageTask: TaskEndpoint = {
  kind: 'task',
  method: 'POST',
  paths: ['/v1/images/async'],
  envelope: 'flat',
  submission: imageSubmission,
  documentation: {
    summary: 'Create images as a task',
    description:
      'Takes the request of POST /v1/images/generations and returns a task at once. The ' +
      'images are added to the gallery and returned as links, whatever response_format ' +
      'says; stream is ignored. A failed task costs nothing.',
    tag: TAG,
    answer: created,
    example: (model) => ({
      body: { model, prompt: 'A river at dawn, in ink.' },
      answer: { ...CREATED, model },
    }),
    errors: [400, 402, 403, 404, 409, 413, 415, 422, 429, 503],
  },
}

export const getImageTask: AccountEndpoint = {
  kind: 'account',
  method: 'GET',
  paths: ['/v1/images/async/:task_id'],
  envelope: 'flat',
  documentation: {
    summary: 'Get an image task',
    description: 'Poll every 3 to 5 seconds at most, or use a callback_url.',
    tag: TAG,
    answer: record,
    example: () => ({ path: `/v1/images/async/${TASK_ID}`, answer: DONE }),
    errors: [403, 404, 503],
  },
  async handle(context, caller, { tasks, library }) {
    const row = await tasks.find(caller.accountId, context.params.task_id ?? '', 'image')
    if (!row) throw new GatewayError('not_found', { message: 'no such task' })
    const [shown = row] = await library.withOwnLinks([row])
    sendJson(context, 200, encodeImageTask(toImageTask(shown)))
  },
}
