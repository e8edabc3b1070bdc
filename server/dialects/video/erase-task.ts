/** Encodes a subtitle-erase task for callers: its creation, its record and its webhook. */
import type { JsonObject } from '../../lib/json.ts'

export interface EraseTask {
  readonly id: string
  readonly upstreamId: string | null
  readonly model: string
  /** The gateway's id of the video whose subtitles are erased. */
  readonly videoTaskId: unknown
  readonly state: 'processing' | 'succeeded' | 'failed'
  readonly error: { readonly code: string; readonly message: string } | undefined
  readonly videoUrl: unknown
  readonly callback: { readonly status: string; readonly attempts: number } | undefined
  readonly createdAt: Date
  readonly finishedAt: Date | undefined
}

/** Always `processing`, whatever has happened meanwhile. */
export function encodeEraseCreated(task: EraseTask): JsonObject {
  return {
    id: task.id,
    ...(task.upstreamId === null ? {} : { upstream_id: task.upstreamId }),
    status: 'processing',
    created_at: task.createdAt.toISOString(),
  }
}

export function encodeEraseTask(task: EraseTask): JsonObject {
  const { videoUrl, error, callback, finishedAt } = task
  return {
    ...encodeEraseCreated(task),
    video_task_id: task.videoTaskId,
    status: task.state,
    ...(task.state === 'succeeded' ? { video_url: videoUrl } : {}),
    error,
    callback,
    ...(finishedAt ? { finished_at: finishedAt.toISOString() } : {}),
  }
}

export function encodeEraseCallback(task: EraseTask): JsonObject {
  const outcome =
    task.state === 'succeeded'
      ? { video_url: task.videoUrl }
      : { error: { code: 'task_failed', message: task.error?.message ?? 'the task failed' } }
  return {
    task_id: task.id,
    kind: 'erase',
    status: task.state,
    model: task.model,
    video_task_id: task.videoTaskId,
    ...outcome,
    created_at: task.createdAt.toISOString(),
    finished_at: (task.finishedAt ?? task.createdAt).toISOString(),
  }
}
