/** Revenue, upstream cost and margin for operators. Unknown figures are never treated as zero. */
import type { Nanos } from '../../../../base/lib/money.ts'
import type { Sums } from './store.ts'

const NO_SUMS: Omit<Sums, 'currency'> = {
  calls: 0n,
  errors: 0n,
  revenue: 0n,
  upstream_cost: 0n,
  uncosted: 0n,
}

export function addUpSums(rows: readonly Omit<Sums, 'currency'>[]): Omit<Sums, 'currency'> {
  return rows.reduce(
    (all, row) => ({
      calls: all.calls + row.calls,
      errors: all.errors + row.errors,
      revenue: all.revenue + row.revenue,
      upstream_cost: all.upstream_cost + row.upstream_cost,
      uncosted: all.uncosted + row.uncosted,
    }),
    NO_SUMS,
  )
}

/**
 * Adds the margin to sums. It covers the revenue whose upstream cost is known, and is null if there
 * is none.
 */
export function addMargin<Row extends Omit<Sums, 'currency'>>(row: Row) {
  const { revenue, upstream_cost: cost, uncosted } = row
  const costedRevenue = revenue - uncosted
  const margin = costedRevenue - cost
  return {
    ...row,
    uncosted_share: shareOf(uncosted, revenue),
    margin: costedRevenue > 0n || cost > 0n ? margin : null,
    margin_share: shareOf(margin, costedRevenue),
  }
}

/** Rounds to a hundredth of a percent. */
function shareOf(part: Nanos, whole: Nanos): number | null {
  return whole === 0n ? null : Number((part * 10_000n) / whole) / 10_000
}
