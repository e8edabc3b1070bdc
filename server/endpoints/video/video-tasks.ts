/** Look-up and conversion of tasks, for both video APIs. */
import type { Caller } from '../../accounts/accounts.ts'
import type { VideoTask } from '../../dialects/video/video-task.ts'
import { encodeVideoCallback } from '../../dialects/video/video-task.ts'
import type { Context } from '../../http/context.ts'
import { GatewayError } from '../../lib/errors.ts'
import type { DeliveryState } from '../../tasks/ports.ts'
import type { TaskSubmission } from '../../tasks/submission.ts'
import { isTerminal, type TaskRow } from '../../tasks/task.ts'
import type { PlainServices } from '../endpoint.ts'
import {
  keepVideoParameters,
  listMediaUrls,
  readDraftId,
  readVideoParameters,
  refuseOwnMembers,
  useDraft,
  videoRequest,
} from './video-request.ts'

/** Bytes of a request, which may contain images. */
const VIDEO_BODY_BYTES_MAX = 64 * 1024 * 1024

export const VIDEO_ERRORS = [400, 402, 403, 404, 409, 413, 415, 422, 429, 502, 503]

export function toVideoTask(row: TaskRow, callback?: DeliveryState): VideoTask {
  return {
    id: row.id,
    upstreamId: row.upstream_id,
    nativeId: row.answer_lost ? row.id : (row.upstream_id ?? row.id),
    model: row.model,
    state: row.state === 'submitting' ? 'queued' : row.state,
    error:
      row.error_code === null
        ? undefined
        : { code: row.error_code, message: row.error_message ?? 'the task failed' },
    request: row.request,
    result: row.result ?? {},
    callback,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    finishedAt: row.finished_at ?? undefined,
  }
}

/** Creates a task for both APIs, which differ in the answer and the id in it. */
export function videoSubmission(
  endpoint: string,
  encode: (task: VideoTask) => unknown,
  idOf: (task: VideoTask) => string,
): TaskSubmission {
  return {
    endpoint,
    kind: 'video',
    modelTypes: ['video'],
    bodyBytesMax: VIDEO_BODY_BYTES_MAX,
    takesPictures: true,
    schema: videoRequest,
    check: refuseOwnMembers,
    model: ({ value }) => (typeof value.model === 'string' ? value.model : undefined),
    streams: () => false,
    inputTokens: () => 0,
    parameters: readVideoParameters,
    source: { id: readDraftId, use: useDraft },
    keep: keepVideoParameters,
    urls: listMediaUrls,
    answer: (task) => encode(toVideoTask(task)),
    webhookBody(row) {
      const task = toVideoTask(row)
      return encodeVideoCallback(task, idOf(task))
    },
  }
}

/**
 * Returns the caller's video task by either id. Throws 404 for foreign, unknown and malformed ids.
 */
export async function findVideo(
  context: Context,
  caller: Caller,
  { tasks }: PlainServices,
): Promise<TaskRow> {
  const row = await tasks.find(caller.accountId, context.params.task_id ?? '', 'video')
  if (!row) throw new GatewayError('not_found', { message: 'no such task' })
  return row
}

/** Returns the task with the gateway's links in its result, once the copies exist. */
export async function findShownVideo(
  context: Context,
  caller: Caller,
  services: PlainServices,
): Promise<TaskRow> {
  const row = await findVideo(context, caller, services)
  const [shown = row] = await services.library.withOwnLinks([row])
  return shown
}

/** Cancels a waiting task, or removes a finished one from the lists. */
export async function removeVideo(row: TaskRow, { tasks }: PlainServices): Promise<void> {
  if (isTerminal(row.state)) await tasks.hide(row)
  else await tasks.cancel(row)
}
