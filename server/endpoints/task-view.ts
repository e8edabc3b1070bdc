/** The view of a task for callers, and the members that all kinds of tasks encode alike. */
import type { JsonObject } from '../lib/json.ts'
import type { TaskKind } from '../lib/task-kinds.ts'

export interface TaskView {
  readonly id: string
  readonly upstreamId: string | null
  /**
   * The id on the native API: the vendor's, or the gateway's where the creation's response was
   * lost.
   */
  readonly nativeId: string
  readonly requestId: string
  readonly model: string
  readonly state: 'queued' | 'processing' | 'succeeded' | 'failed'
  readonly error: { readonly code: string; readonly message: string } | undefined
  /** The caller's request, as it is stored. */
  readonly request: JsonObject
  /** Empty before the task has succeeded. */
  readonly result: JsonObject
  readonly callback: { readonly status: string; readonly attempts: number } | undefined
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly finishedAt: Date | undefined
}

/** Returns the state for kinds that have no queue of their own. */
export function stateWithoutQueue({ state }: TaskView): TaskView['state'] {
  return state === 'queued' ? 'processing' : state
}

/** Returns the last members of a record: the error, the state of the webhook, the end. */
export function encodeEnding({ error, callback, finishedAt }: TaskView): JsonObject {
  return {
    ...(error ? { error } : {}),
    ...(callback ? { callback } : {}),
    ...(finishedAt ? { finished_at: finishedAt.toISOString() } : {}),
  }
}

export interface WebhookParts {
  /** The id that the answer to the creation named; the gateway's if absent. */
  readonly id?: string
  /** Absent for videos, whose webhooks are older than the other kinds. */
  readonly kind?: TaskKind
  /** Members of the request. */
  readonly beside?: JsonObject
  /** Members with the result, shown if the task has succeeded. */
  readonly outcome: JsonObject
}

/** Returns the webhook body of a task that has ended. */
export function encodeWebhook(task: TaskView, parts: WebhookParts): JsonObject {
  const { id = task.id, kind, beside, outcome } = parts
  const { state, model, error, createdAt, finishedAt, updatedAt } = task
  return {
    task_id: id,
    ...(kind ? { kind } : {}),
    status: state,
    model,
    ...beside,
    ...(state === 'succeeded'
      ? outcome
      : { error: { code: 'task_failed', message: error?.message ?? 'the task failed' } }),
    created_at: createdAt.toISOString(),
    finished_at: (finishedAt ?? updatedAt).toISOString(),
  }
}

export function toSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000)
}
