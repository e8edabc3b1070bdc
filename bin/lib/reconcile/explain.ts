/** Lists calls that may explain a difference: kinds of calls that vendors count differently. */
import type { TransactionSql } from 'postgres'
import {
  type CandidateKind,
  type CandidateRow,
  findByCost,
  findCandidates,
} from '../../../server/money/usage/reconcile-store.ts'
import type { BillComparison } from './compare.ts'
import { findSubset } from './find-subset.ts'

export interface DifferenceExplanation {
  readonly kind: CandidateKind
  readonly count: number
  /** The most expensive of them. */
  readonly calls: readonly { readonly id: string; readonly cost: bigint | null }[]
}

export interface ExplainedDifference {
  readonly explanations: readonly DifferenceExplanation[]
  /** Calls whose upstream costs add up to the difference; empty if none do. */
  readonly matching: readonly string[]
}

export const KIND_TEXTS: Readonly<Record<CandidateKind, string>> = {
  unknown_cost: 'calls whose cost is unknown',
  uncertain_basis: 'calls that were estimated, partial or reviewed',
  lost: 'calls whose process died',
  cancelled: 'calls whose caller disconnected',
  stated_cost: 'calls booked at the cost that the answer stated',
  after_midnight: 'calls within 10 minutes of midnight, in this day',
  before_midnight: 'calls within 10 minutes of midnight, in the next or last day',
  failed_attempt: 'attempts without an answer, which may be billed',
  uncharged_cost: 'submissions that nobody was charged for',
}

/** Possible reasons for a higher and for a lower figure of the vendor. */
const MORE: ReadonlySet<string> = new Set([
  'unknown_cost',
  'uncertain_basis',
  'lost',
  'cancelled',
  'stated_cost',
  'before_midnight',
  'failed_attempt',
  'uncharged_cost',
])
const LESS: ReadonlySet<string> = new Set([
  'uncertain_basis',
  'lost',
  'cancelled',
  'stated_cost',
  'after_midnight',
])
const LISTED = 20

export async function explainDifference(
  sql: TransactionSql,
  place: { readonly channel: string; readonly timeZone: string },
  { day, ourModels, difference }: BillComparison,
  hasAmounts: boolean,
): Promise<ExplainedDifference> {
  const where = { ...place, day }
  const kinds = difference > 0n ? MORE : LESS
  const all = await findCandidates(sql, where, ourModels, LISTED)
  const rows = all.filter(({ kind }) => kinds.has(kind))
  const explanations = [...Map.groupBy(rows, ({ kind }) => kind)].map(([kind, found]) => ({
    kind,
    count: Number(found[0]?.count ?? 0),
    calls: found.map(({ id, upstream_cost: cost }) => ({ id, cost })),
  }))
  if (!hasAmounts) return { explanations, matching: [] }
  const matching = findSubset(toItems(rows, difference), difference < 0n ? -difference : difference)
  if (matching.length > 0 || difference > 0n) return { explanations, matching }
  const same = await findByCost(sql, where, -difference)
  return { explanations, matching: same.length === 1 ? same : [] }
}

/** Returns upstream costs that the vendor may have booked on another day, or not at all. */
function toItems(rows: readonly CandidateRow[], difference: bigint) {
  const ids = new Map<string, bigint>()
  for (const { id, kind, upstream_cost: cost } of rows) {
    const isOurs = kind !== 'before_midnight' && kind !== 'uncharged_cost'
    if (cost && isOurs === difference < 0n) ids.set(id, cost)
  }
  return [...ids].map(([id, amount]) => ({ id, amount }))
}
