/** The view of a task for callers, and the members that all kinds of tasks encode alike. */

import type { JsonObject } from '../../base/lib/json.ts'
import type { TaskKind, VisibleTaskState } from '../../base/lib/kinds-and-states.ts'
import { formatAmount } from '../../base/lib/money.ts'

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
  readonly state: VisibleTaskState
  readonly error: { readonly code: string; readonly message: string } | undefined
  /** The caller's request, as it is stored. */
  readonly request: JsonObject
  /** Empty before the task has succeeded. */
  readonly result: JsonObject
  readonly callback: { readonly status: string; readonly attempts: number } | undefined
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly finishedAt: Date | undefined
  /** In nano-units; absent before the end, and once the call's record is archived. */
  readonly charge: { readonly charged: string; readonly currency: string } | undefined
}

/** Returns the state for kinds of tasks without a `queued` state. */
export function stateWithoutQueue({ state }: TaskView): TaskView['state'] {
  return state === 'queued' ? 'processing' : state
}

/** Returns the charge as usage records have it. */
export function encodeCharge({ charge }: Pick<TaskView, 'charge'>): JsonObject {
  if (!charge) return {}
  return { charged: formatAmount(BigInt(charge.charged)), currency: charge.currency }
}

/** Returns the last members of a record: error, state of the webhook, end, charge. */
export function encodeEnding(task: TaskView): JsonObject {
  const { error, callback, finishedAt } = task
  return {
    ...(error ? { error } : {}),
    ...(callback ? { callback } : {}),
    ...(finishedAt ? { finished_at: finishedAt.toISOString() } : {}),
    ...encodeCharge(task),
  }
}

export interface WebhookParts {
  /** The id that the answer to the creation named; the gateway's if absent. */
  readonly id?: string
  /** Absent for videos: their webhooks existed before those of other kinds. */
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
    ...encodeCharge(task),
  }
}

export function toSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000)
}
