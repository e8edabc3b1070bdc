/** The kinds of alerts, and their names in webhooks. */
import type { AlertEvent } from '../../base/lib/kinds-and-states.ts'

/** The channel that wakes whoever enqueues webhooks and sends mail. */
export const ALERT_NOTIFICATIONS = 'tributary_alert'

/** The kind of an alert in the database and in mail: `budget_threshold`. */
export type AlertKind = AlertEvent extends infer Event
  ? Event extends `${infer Subject}.${infer What}`
    ? `${Subject}_${What}`
    : never
  : never

/** Returns the name of the event: `budget.threshold`. */
export function eventOf(kind: AlertKind): string {
  return kind.replace('_', '.')
}
