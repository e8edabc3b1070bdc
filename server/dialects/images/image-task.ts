/** Encodes an image task for callers: its creation, its record and its webhook. */
import type { JsonObject } from '../../lib/json.ts'

export interface ImageTask {
  readonly id: string
  readonly model: string
  readonly state: 'queued' | 'processing' | 'succeeded' | 'failed'
  readonly error: string | undefined
  /** Returns the record, in the form of an answer with images once the task succeeded. */
  readonly result: JsonObject | undefined
  readonly createdAt: Date
  readonly finishedAt: Date | undefined
}

/** Returns the answer to a creation, whose status is always `queued`. */
export function encodeImageCreated(task: ImageTask): JsonObject {
  return { id: task.id, status: 'queued', model: task.model, created_at: seconds(task.createdAt) }
}

export function encodeImageTask(task: ImageTask): JsonObject {
  const { error, result } = task
  return {
    ...encodeImageCreated(task),
    status: task.state,
    error,
    result,
  }
}

export function encodeImageCallback(task: ImageTask): JsonObject {
  const { state, result, error = 'the task failed' } = task
  return {
    task_id: task.id,
    kind: 'image',
    status: state,
    model: task.model,
    ...(state === 'succeeded' ? { result } : { error: { code: 'task_failed', message: error } }),
    created_at: task.createdAt.toISOString(),
    finished_at: (task.finishedAt ?? task.createdAt).toISOString(),
  }
}

function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000)
}
