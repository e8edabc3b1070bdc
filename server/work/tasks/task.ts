/** A task row joined with its current attempt and its hold. */

import type { JsonObject } from '../../base/lib/json.ts'
import type { TaskKind, VisibleTaskState } from '../../base/lib/kinds-and-states.ts'
import type { Quantities } from '../../base/lib/units.ts'
import type { TaskFacts } from '../../wire/upstreams/task-driver.ts'

export type TaskState = 'submitting' | VisibleTaskState

export type AttemptState =
  | 'prepared'
  | 'sending'
  | 'accepted'
  | 'answered'
  | 'refused'
  | 'unknown'
  | 'given_up'

export interface TaskRow {
  readonly id: string
  readonly kind: TaskKind
  readonly account_id: string
  readonly key_id: string
  readonly request_id: string
  readonly hold_id: string
  readonly endpoint: string
  readonly model: string
  readonly state: TaskState
  readonly request: JsonObject
  readonly quantities: Quantities
  readonly facts: TaskFacts
  readonly attempt_id: string
  readonly channel_id: string
  readonly webhook_url: string | null
  readonly result: JsonObject | null
  readonly usage: Quantities | null
  readonly error_code: string | null
  readonly error_message: string | null
  readonly fence: bigint
  readonly polls: number
  readonly failures: number
  readonly cancel_sent_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
  readonly finished_at: Date | null
  /** The vendor's answer to the creation was lost, so the caller knows the task by our id. */
  readonly answer_lost: boolean
  /** UTF-8 bytes of a background response's output that streams have delivered. */
  readonly output_bytes: bigint
  /** As the usage record has it, in nano-units; only where callers see the task. */
  readonly charge?: { readonly charged: string; readonly currency: string } | null | undefined
  /** The event up to which `output_bytes` counts; -1 when unknown. */
  readonly output_sequence: number
  /** This and the following members describe the current attempt. */
  readonly channel_version: number
  readonly upstream_model: string
  readonly upstream_id: string | null
  readonly attempt_state: AttemptState
  readonly attempt_number: number
  readonly sent_at: Date | null
  readonly passes: number
  /** The upstream id in a vendor callback that arrived while the outcome was unknown. */
  readonly callback_upstream_id: string | null
  readonly callback_count: number
}

/** A task whose lease this process holds, with its age by the database's clock. */
export interface ClaimedTask extends TaskRow {
  readonly hold_amount: bigint
  /** The pipeline's quote of a background response or a deferred call, without its amount. */
  readonly quote: JsonObject | null
  readonly price_version: bigint | null
  readonly prices: unknown
  /** Of the prices; null for a free model. */
  readonly currency: string | null
  /** The list that the prices are of, and the base prices beside them; null for base prices. */
  readonly price_list: string | null
  readonly base_prices: unknown
  readonly base_version: bigint | null
  readonly upstream_cost_version: bigint | null
  /** The attempt's upstream costs; null when unknown. */
  readonly costs: unknown
  readonly costs_currency: string | null
  readonly age_ms: number
  readonly sent_ms: number
  readonly gone_ms: number | null
  readonly expired: boolean
  /** Milliseconds since it expired; negative before. */
  readonly overdue_ms: number
}

export interface TaskEvent {
  readonly kind: string
  readonly detail: JsonObject
  readonly at: Date
}

export function isTerminal(state: TaskState): boolean {
  return state === 'succeeded' || state === 'failed'
}

/** The order of states, which only move forward. */
const RANK: Readonly<Record<TaskState, number>> = {
  submitting: 0,
  queued: 1,
  processing: 2,
  succeeded: 3,
  failed: 3,
}

/** Returns the later of the two states: an upstream that reports `queued` again changes nothing. */
export function laterState(current: TaskState, reported: 'queued' | 'processing'): TaskState {
  return RANK[reported] > RANK[current] ? reported : current
}
