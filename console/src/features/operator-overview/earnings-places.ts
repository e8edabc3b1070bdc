/** The digits that revenue, cost and margin are shown with. */
import { SUM_PLACES } from '../../lib/format.ts'
import { placesToAddUp } from '../../lib/nanos.ts'

interface Earned {
  readonly revenue: string
  readonly upstream_cost: string
  readonly margin: string | null
  readonly uncosted_share: number | null
}

/** Revenue of unknown cost is no part of the margin, so that there is nothing to add up. */
export function earningsPlaces(row: Earned): number {
  const { revenue, upstream_cost: cost, margin, uncosted_share: uncosted } = row
  if (margin === null || uncosted) return SUM_PLACES
  return placesToAddUp(margin, [revenue], [cost])
}
