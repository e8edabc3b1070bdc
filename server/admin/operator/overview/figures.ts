/** Revenue, upstream cost and margin for operators. Unknown figures are never treated as zero. */
import { formatAmount, type Nanos } from '../../../lib/money.ts'
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

/** The margin covers the revenue whose upstream cost is known; without any there is none. */
export function showFigures({
  calls,
  errors,
  revenue,
  upstream_cost: cost,
  uncosted,
}: Omit<Sums, 'currency'>) {
  const costedRevenue = revenue - uncosted
  const margin = costedRevenue - cost
  const isKnown = costedRevenue > 0n || cost > 0n
  return {
    calls: Number(calls),
    errors: Number(errors),
    revenue: formatAmount(revenue),
    upstream_cost: formatAmount(cost),
    uncosted: formatAmount(uncosted),
    uncosted_share: shareOf(uncosted, revenue),
    margin: isKnown ? formatAmount(margin) : null,
    margin_share: shareOf(margin, costedRevenue),
  }
}

/** Rounds to a hundredth of a percent. */
function shareOf(part: Nanos, whole: Nanos): number | null {
  return whole === 0n ? null : Number((part * 10_000n) / whole) / 10_000
}
