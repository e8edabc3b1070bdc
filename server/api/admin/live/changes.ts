/** Compares two states of an account and returns the events for its viewers. */
import { formatAmount } from '../../../base/lib/money.ts'
import type { LiveRow } from './live-store.ts'

export interface LiveEvent {
  readonly name: 'balance' | 'usage' | 'tasks' | 'deliveries'
  readonly data: Readonly<Record<string, unknown>>
}

/** The state of an account in which nothing runs or has just ended. */
const NOTHING = {
  available: 0n,
  held: 0n,
  debt: 0n,
  calls: 0,
  last_end: null,
  last_task_end: null,
  open_tasks: 0,
  tasks_mark: 0n,
  pending_deliveries: 0,
  deliveries_mark: 0n,
  last_delivery_end: null,
} satisfies Omit<LiveRow, 'account_id'>

/**
 * Returns what has changed. The first time it returns the balance and everything that runs or has
 * just ended, since these may have changed after the viewer's page was loaded.
 */
export function findChanges(
  seen: Omit<LiveRow, 'account_id'> | undefined,
  now: LiveRow,
): LiveEvent[] {
  const before = seen ?? NOTHING
  const money = (row: typeof before) => [row.available, row.held, row.debt].map(formatAmount)
  const [available, held, debt] = money(now)
  const events: readonly (LiveEvent | false)[] = [
    (!seen || String(money(before)) !== String(money(now))) && {
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

/** A time that becomes null has merely left the observed window, which is not an event. */
function isNews(before: string | null, now: string | null): boolean {
  return now !== null && now !== before
}
