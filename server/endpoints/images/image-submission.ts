/** Creates image tasks: a worker makes the call of POST /v1/images/generations. */
import {
  encodeImageCallback,
  encodeImageCreated,
  type ImageTask,
} from '../../dialects/images/image-task.ts'
import { explainNoImage, readImagesResult } from '../../dialects/images/read-result.ts'
import { spliceJson } from '../../dialects/splice.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { AnswerTools, CallResult, TaskSubmission } from '../../tasks/submission.ts'
import type { TaskRow } from '../../tasks/task.ts'
import { callbackUrl } from '../callback-url.ts'
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

export function toImageTask(row: TaskRow): ImageTask {
  return {
    id: row.id,
    model: row.model,
    state: row.state === 'submitting' ? 'queued' : row.state,
    error: row.state === 'failed' ? (row.error_message ?? 'the task failed') : undefined,
    result: row.result ?? undefined,
    createdAt: row.created_at,
    finishedAt: row.finished_at ?? undefined,
  }
}

export const imageSubmission: TaskSubmission = {
  ...imageMetering,
  endpoint: 'images.async',
  kind: 'image',
  schema: asyncRequest,
  streams: () => false,
  parameters: (value) => asyncRequest.parse(value),
  keep: keepParameters,
  urls: () => [],
  call: {
    metering: imageMetering,
    body: ({ body, fields }) => spliceJson(body, fields, { remove: REMOVED }),
    galleryDetails: ({ prompt }) => ({ prompt }),
    read,
  },
  answer: (task) => encodeImageCreated(toImageTask(task)),
  webhookBody: (task) => encodeImageCallback(toImageTask(task)),
}
