/** What both video APIs share: from the engine's row to the dialect's task, and the look-up. */
import type { Caller } from '../../accounts/accounts.ts'
import type { VideoTask } from '../../dialects/video/video-task.ts'
import { encodeVideoCallback } from '../../dialects/video/video-task.ts'
import type { Context } from '../../http/context.ts'
import { GatewayError } from '../../lib/errors.ts'
import type { CallbackState } from '../../tasks/ports.ts'
import type { TaskSubmission } from '../../tasks/submission.ts'
import { isTerminal, type TaskRow } from '../../tasks/task.ts'
import type { PlainServices } from '../endpoint.ts'
import {
  keepVideoParameters,
  listMediaUrls,
  readVideoParameters,
  videoRequest,
} from './video-request.ts'

/** Pictures may come inside the request. */
const VIDEO_BODY_BYTES_MAX = 32 * 1024 * 1024

export const VIDEO_ERRORS = [400, 402, 403, 404, 409, 413, 415, 422, 429, 502, 503]

export function toVideoTask(row: TaskRow, callback?: CallbackState): VideoTask {
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

/** The same creation for both APIs; they differ in their answer and in the id that it names. */
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
    model: ({ value }) => (typeof value.model === 'string' ? value.model : undefined),
    streams: () => false,
    inputTokens: () => 0,
    parameters: readVideoParameters,
    keep: keepVideoParameters,
    urls: listMediaUrls,
    answer: (task) => encode(toVideoTask(task)),
    announce(row) {
      const task = toVideoTask(row)
      return encodeVideoCallback(task, idOf(task))
    },
  }
}

/** The caller's own video task by either id. Foreign, unknown and malformed: the same 404. */
export async function findVideo(
  context: Context,
  caller: Caller,
  { tasks }: PlainServices,
): Promise<TaskRow> {
  const row = await tasks.find(caller.accountId, context.params.task_id ?? '', 'video')
  if (!row) throw new GatewayError('not_found', { message: 'no such task' })
  return row
}

/** With our own links in the result, once the copies are made. */
export async function findShownVideo(
  context: Context,
  caller: Caller,
  services: PlainServices,
): Promise<TaskRow> {
  const row = await findVideo(context, caller, services)
  const [shown = row] = await services.library.withOwnLinks([row])
  return shown
}

/** Takes back a task that waits, or removes one that is finished from view. */
export async function removeVideo(row: TaskRow, { tasks }: PlainServices): Promise<void> {
  if (isTerminal(row.state)) await tasks.hide(row)
  else await tasks.cancel(row)
}
