/**
 * The kinds, states and limits that records, the API, the command line and the console name: each
 * list once, in the order of filters. It is data alone, since the console reads it too. A column
 * that holds one has its own condition in a migration.
 */

/** The kinds of tasks that the gateway offers. */
export const TASK_KINDS = ['video', 'minutes', 'erase', 'image', 'response'] as const
export type TaskKind = (typeof TASK_KINDS)[number]

/** The states of a task as callers see them. */
export const TASK_STATES = ['queued', 'processing', 'succeeded', 'failed'] as const
export type VisibleTaskState = (typeof TASK_STATES)[number]

/** The statuses of a call that has ended. */
export const ENDED_STATUSES = ['succeeded', 'failed', 'cancelled', 'lost'] as const
export type EndedStatus = (typeof ENDED_STATUSES)[number]

/** The kinds of money that an operator posts to an account. */
export const CREDIT_KINDS = ['top_up', 'promotion', 'adjustment', 'forgiveness'] as const
export type CreditKind = (typeof CREDIT_KINDS)[number]

/** The states of a webhook's delivery. */
export const DELIVERY_STATES = ['pending', 'delivered', 'dropped'] as const
export type DeliveryStatus = (typeof DELIVERY_STATES)[number]

/** The outcomes of one attempt to deliver a webhook; `lost`: its sender died. */
export const DELIVERY_OUTCOMES = ['accepted', 'refused', 'lost'] as const
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number]

/** Results in the library that are no pictures of the gallery. */
export const FILM_KINDS = ['video', 'last_frame', 'erased'] as const
export const ASSET_KINDS = ['image', ...FILM_KINDS] as const
export type AssetKind = (typeof ASSET_KINDS)[number]

/** The states of a result's copy. */
export const COPY_STATES = ['waiting', 'stored', 'failed'] as const

/** The limits of calls that accounts, keys, subjects of tokens and models may have. */
export const CALL_LIMITS = ['requests_per_minute', 'tokens_per_minute', 'concurrent_calls'] as const
type LimitName = (typeof CALL_LIMITS)[number]

/** An absent member means no limit. */
export type CallLimits = { readonly [Name in LimitName]?: number }

/** Returns an object with the same value for each limit, such as a schema. */
export function eachLimit<Value>(value: Value): Record<LimitName, Value> {
  return Object.fromEntries(CALL_LIMITS.map((name) => [name, value])) as Record<LimitName, Value>
}

/** The terms of a budget: its calls, what of them counts, its period, and its end. */
export const BUDGET_SCOPES = ['account', 'key', 'member', 'tag', 'end_user'] as const
export const BUDGET_UNITS = ['money', 'call', 'input_token', 'output_token'] as const
export const BUDGET_PERIODS = ['day', 'week', 'month', 'total'] as const
export const BUDGET_ACTIONS = ['refuse', 'warn'] as const

/** The names of alerts in webhooks and the API. */
export const ALERT_EVENTS = [
  'budget.threshold',
  'balance.low',
  'balance.empty',
  'key.expiring',
  'books.unbalanced',
] as const
export type AlertEvent = (typeof ALERT_EVENTS)[number]
