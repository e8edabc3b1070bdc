/** `audit`: recomputes the books from the entries and reports every difference. */
import type { Sql, TransactionSql } from 'postgres'
import { selectHead } from '../books/seal-store.ts'
import { BOOKS_INVARIANTS } from './audit-books-store.ts'
import { budgetsAreCounted } from './audit-budgets-store.ts'
import { contentHasOneOwner } from './audit-content-store.ts'
import { pricesAreOfTheList } from './audit-prices-store.ts'
import {
  type Invariant,
  LEDGER_INVARIANTS,
  type Violation,
  withAuditSnapshot,
} from './audit-store.ts'
import { TASK_INVARIANTS } from './audit-tasks-store.ts'
import { EVERYTHING, outside, type Scope } from './scope-store.ts'
import {
  findAltered,
  type KnownWeek,
  keepFindings,
  readPlace,
  readVerifiedBlock,
  selectKnownWeeks,
} from './verified-store.ts'
import { verifyWeeks, type WeekOptions } from './verify-weeks.ts'

const INVARIANTS = [
  ...LEDGER_INVARIANTS,
  ...TASK_INVARIANTS,
  contentHasOneOwner,
  budgetsAreCounted,
  pricesAreOfTheList,
  ...BOOKS_INVARIANTS,
]

/** The invariants of sealed blocks. */
const CHAIN: ReadonlySet<string> = new Set(['I14', 'I15'])

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
  /**
   * The number of weeks that were counted by their sums, and of those that this audit has verified.
   */
  readonly weeks: { readonly known: number; readonly verified: number }
}

export interface AuditOptions extends WeekOptions {
  /** Reads verified weeks and blocks again. */
  readonly isFull?: boolean
}

const ALTERED = {
  id: 'I25',
  title: 'the calls of verified weeks are as they were verified',
} as const

/**
 * Verifies weeks that have ended, and then checks every invariant against one snapshot, in which
 * verified weeks are represented by their sums. Safe while the gateway is running.
 */
export async function audit(sql: Sql, options: AuditOptions = {}): Promise<AuditResult> {
  const { isFull = false } = options
  const verified = await verifyWeeks(sql, INVARIANTS, options)
  const { checks, ...found } = await withAuditSnapshot(sql, 'read only', async (view) => {
    const known = isFull ? [] : await selectKnownWeeks(view)
    const scope = isFull ? EVERYTHING : await readScope(view, known)
    const altered = await findAltered(view, isFull)
    const checks: AuditCheck[] = []
    for (const invariant of INVARIANTS) {
      checks.push(judge(invariant, await invariant.find(view, scope)))
    }
    checks.push(judge(ALTERED, altered))
    return { checks, known, altered, head: await selectHead(view) }
  })
  if ((await readPlace(sql)).writable) {
    await keepFindings(sql, {
      known: found.known,
      head: found.head,
      isChainIntact: checks.every(({ id, ok }) => ok || !CHAIN.has(id)),
      altered: isFull ? found.altered.map(({ week }) => week) : null,
    })
  }
  const known = found.known.filter(({ is_late }) => !is_late).length
  return { ok: checks.every(({ ok }) => ok), checks, weeks: { known, verified } }
}

function judge(
  { id, title }: Pick<Invariant, 'id' | 'title'>,
  violations: readonly Violation[],
): AuditCheck {
  const details = violations.map(({ subject, found, expected }) => ({ subject, found, expected }))
  return { id, title, ok: details.length === 0, details }
}

/** Returns everything except the weeks that are represented by their sums. */
async function readScope(view: TransactionSql, known: readonly KnownWeek[]): Promise<Scope> {
  const settled = known.filter(({ is_late }) => !is_late)
  return {
    ranges: outside(settled),
    weeks: settled.map(({ week }) => week),
    block: await readVerifiedBlock(view),
  }
}
