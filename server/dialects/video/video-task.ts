/** Encodes a video task in the gateway's own form, as GET /v1/videos/generations answers it. */
import type { JsonObject } from '../../lib/json.ts'

export interface VideoTask {
  readonly id: string
  readonly upstreamId: string | null
  /**
   * The id on the native API: the vendor's, or the gateway's where the creation's response was
   * lost.
   */
  readonly nativeId: string
  readonly model: string
  readonly state: 'queued' | 'processing' | 'succeeded' | 'failed'
  readonly error: { readonly code: string; readonly message: string } | undefined
  /** The caller's request. */
  readonly request: JsonObject
  /** The result, once the task succeeded. */
  readonly result: JsonObject
  readonly callback: { readonly status: string; readonly attempts: number } | undefined
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly finishedAt: Date | undefined
}

/** Members of a result in the neutral form of all video drivers. */
export const VIDEO_RESULT_FIELDS = [
  'video_url',
  'last_frame_url',
  'duration',
  'resolution',
  'ratio',
  'seed',
] as const

/** Returns the answer to a creation, with the upstream's id beside the gateway's. */
export function encodeCreated(task: VideoTask): JsonObject {
  return {
    id: task.id,
    upstream_id: task.upstreamId,
    model: task.model,
    status: task.state,
    created_at: task.createdAt.toISOString(),
  }
}

export function encodeVideoTask(task: VideoTask): JsonObject {
  const { result, error, callback, finishedAt } = task
  const resultFields = VIDEO_RESULT_FIELDS.flatMap((name) =>
    result[name] === undefined ? [] : [[name, result[name]] as const],
  )
  return {
    ...encodeCreated(task),
    ...Object.fromEntries(resultFields),
    usage: result.usage,
    error,
    callback,
    ...(finishedAt ? { finished_at: finishedAt.toISOString() } : {}),
  }
}

/**
 * Returns the webhook body of a finished video task. `taskId` is the id that the answer to the
 * creation named.
 */
export function encodeVideoCallback(task: VideoTask, taskId: string): JsonObject {
  const outcome =
    task.state === 'succeeded'
      ? { video_url: task.result.video_url }
      : { error: { code: 'task_failed', message: task.error?.message ?? 'the task failed' } }
  return {
    task_id: taskId,
    status: task.state,
    model: task.model,
    ...outcome,
    created_at: task.createdAt.toISOString(),
    finished_at: (task.finishedAt ?? task.updatedAt).toISOString(),
  }
}
