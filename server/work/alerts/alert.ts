/** The kinds of alerts, and their names in webhooks. */

/** The channel that wakes whoever enqueues webhooks and sends mail. */
export const ALERT_NOTIFICATIONS = 'tributary_alert'

export type AlertKind =
  | 'budget_threshold'
  | 'balance_low'
  | 'balance_empty'
  | 'key_expiring'
  | 'books_unbalanced'

/** The names of events in webhooks and the API. */
export const ALERT_EVENTS = [
  'budget.threshold',
  'balance.low',
  'balance.empty',
  'key.expiring',
  'books.unbalanced',
] as const

/** Returns the name of the event: `budget.threshold`. */
export function eventOf(kind: AlertKind): string {
  return kind.replace('_', '.')
}
