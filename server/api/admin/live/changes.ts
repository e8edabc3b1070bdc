/** Compares two states of an account and returns the events for its viewers. */
import { formatAmount } from '../../../base/lib/money.ts'
import type { LiveRow } from './live-store.ts'

export interface LiveEvent {
  readonly name: 'balance' | 'usage' | 'tasks' | 'deliveries'
  readonly data: Readonly<Record<string, unknown>>
}

/** Returns no events for an account that is seen for the first time: its pages were just loaded. */
export function findChanges(before: LiveRow | undefined, now: LiveRow): LiveEvent[] {
  if (!before) return []
  const money = (row: LiveRow) => [row.available, row.held, row.debt].map(formatAmount)
  const [available, held, debt] = money(now)
  const events: readonly (LiveEvent | false)[] = [
    String(money(before)) !== String(money(now)) && {
      name: 'balance',
      data: { available, held, debt },
    },
    isNews(before.last_end, now.last_end) && { name: 'usage', data: { calls: now.calls } },
    (before.tasks_mark !== now.tasks_mark ||
      before.open_tasks !== now.open_tasks ||
      isNews(before.last_task_end, now.last_task_end)) && {
      name: 'tasks',
      data: { open: now.open_tasks },
    },
    (before.deliveries_mark !== now.deliveries_mark ||
      before.pending_deliveries !== now.pending_deliveries ||
      isNews(before.last_delivery_end, now.last_delivery_end)) && {
      name: 'deliveries',
      data: { pending: now.pending_deliveries },
    },
  ]
  return events.filter((event) => event !== false)
}

/** A time that becomes null has only left the observed window, which is not an event. */
function isNews(before: string | null, now: string | null): boolean {
  return now !== null && now !== before
}
