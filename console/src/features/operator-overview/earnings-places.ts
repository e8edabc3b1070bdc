/** The digits that revenue, cost and margin are shown with. */
import { SUM_PLACES } from '../../lib/format.ts'
import { placesToAddUp } from '../../lib/nanos.ts'

interface Earned {
  readonly revenue: string
  readonly upstream_cost: string
  readonly margin: string | null
}

export function earningsPlaces({ revenue, upstream_cost: cost, margin }: Earned): number {
  return margin === null ? SUM_PLACES : placesToAddUp(margin, [revenue], [cost])
}
