/** Encodes a minutes task for callers: its creation, its record and its webhook. */
import { isObject, type JsonObject } from '../../lib/json.ts'

export interface MinutesTask {
  readonly id: string
  readonly requestId: string
  readonly model: string
  readonly state: 'processing' | 'succeeded' | 'failed'
  readonly error: { readonly code: string; readonly message: string } | undefined
  readonly result: JsonObject
  /** True where the caller requested the time of each word. */
  readonly withWords: boolean
  readonly callback: { readonly status: string; readonly attempts: number } | undefined
  readonly createdAt: Date
  readonly finishedAt: Date | undefined
}

/** Always `processing`, whatever has happened meanwhile. */
export function encodeMinutesCreated(task: MinutesTask): JsonObject {
  return {
    id: task.id,
    request_id: task.requestId,
    model: task.model,
    status: 'processing',
    created_at: task.createdAt.toISOString(),
  }
}

export function encodeMinutesTask(task: MinutesTask): JsonObject {
  const { error, callback, finishedAt } = task
  return {
    ...encodeMinutesCreated(task),
    status: task.state,
    ...(task.state === 'succeeded' ? encodeResult(task) : {}),
    error,
    callback,
    ...(finishedAt ? { finished_at: finishedAt.toISOString() } : {}),
  }
}

/** Returns the webhook body, without the times of words, which the record has. */
export function encodeMinutesCallback(task: MinutesTask): JsonObject {
  const outcome =
    task.state === 'succeeded'
      ? encodeResult({ ...task, withWords: false })
      : { error: { code: 'task_failed', message: task.error?.message ?? 'the task failed' } }
  return {
    task_id: task.id,
    kind: 'minutes',
    status: task.state,
    model: task.model,
    ...outcome,
    created_at: task.createdAt.toISOString(),
    finished_at: (task.finishedAt ?? task.createdAt).toISOString(),
  }
}

function encodeResult({ result, withWords }: MinutesTask): JsonObject {
  const { duration, sentences, ...rest } = result
  const sentenceList = Array.isArray(sentences) ? sentences.filter(isObject) : []
  const plain = sentenceList.map(({ words: _words, ...sentence }) => sentence)
  const { text, ...parts } = rest
  return { duration, result: { text, sentences: withWords ? sentenceList : plain, ...parts } }
}
