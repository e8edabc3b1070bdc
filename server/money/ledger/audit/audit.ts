/** `audit`: recomputes the books from the entries and reports every difference. */
import type { Sql } from 'postgres'
import { BOOKS_INVARIANTS } from './audit-books-store.ts'
import { budgetsAreCounted } from './audit-budgets-store.ts'
import { contentHasOneOwner } from './audit-content-store.ts'
import { pricesAreOfTheList } from './audit-prices-store.ts'
import {
  type Invariant,
  LEDGER_INVARIANTS,
  type Violation,
  withReadOnlySnapshot,
} from './audit-store.ts'
import { TASK_INVARIANTS } from './audit-tasks-store.ts'

const INVARIANTS = [
  ...LEDGER_INVARIANTS,
  ...TASK_INVARIANTS,
  contentHasOneOwner,
  budgetsAreCounted,
  pricesAreOfTheList,
  ...BOOKS_INVARIANTS,
]

export interface AuditCheck {
  readonly id: string
  readonly title: string
  readonly ok: boolean
  /** The first violations, at most 20. */
  readonly details: readonly Violation[]
}

export interface AuditResult {
  readonly ok: boolean
  readonly checks: readonly AuditCheck[]
}

/** Checks every invariant against one snapshot; safe while the gateway is running. */
export function audit(
  sql: Sql,
  invariants: readonly Invariant[] = INVARIANTS,
): Promise<AuditResult> {
  return withReadOnlySnapshot(sql, async (view) => {
    const checks: AuditCheck[] = []
    for (const { id, title, find } of invariants) {
      const details = [...(await find(view))]
      checks.push({ id, title, ok: details.length === 0, details })
    }
    return { ok: checks.every((check) => check.ok), checks }
  })
}
