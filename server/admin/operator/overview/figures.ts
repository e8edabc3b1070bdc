/** Revenue, cost and margin as operators see them: what is not known is never taken for zero. */
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

/** The margin is that of the revenue whose cost is known; there is none where nothing is. */
export function showFigures({
  calls,
  errors,
  revenue,
  upstream_cost: cost,
  uncosted,
}: Omit<Sums, 'currency'>) {
  const known = revenue - uncosted
  const margin = known - cost
  const isKnown = known > 0n || cost > 0n
  return {
    calls: Number(calls),
    errors: Number(errors),
    revenue: formatAmount(revenue),
    upstream_cost: formatAmount(cost),
    uncosted: formatAmount(uncosted),
    uncosted_share: shareOf(uncosted, revenue),
    margin: isKnown ? formatAmount(margin) : null,
    margin_share: shareOf(margin, known),
  }
}

/** To a hundredth of a percent. */
function shareOf(part: Nanos, whole: Nanos): number | null {
  return whole === 0n ? null : Number((part * 10_000n) / whole) / 10_000
}
