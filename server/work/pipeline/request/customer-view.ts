/** The catalog as one customer sees it: the models of their price list, at its prices. */

import { GatewayError } from '../../../base/lib/errors.ts'
import type { CatalogSnapshot } from '../../../money/catalog/catalog.ts'
import { type Payer, soldTo } from '../../../money/catalog/load/load-lists.ts'
import type { Services } from '../services.ts'

/** Throws 503 for a list that has just been created and is not loaded here yet. */
export function viewOf(payer: Payer, { catalog }: Pick<Services, 'catalog'>): CatalogSnapshot {
  const view = soldTo(catalog.snapshot(), payer)
  if (view) return view
  const cause = `the price list ${payer.priceList} is not loaded yet`
  throw new GatewayError('unavailable', { retryAfterSeconds: 1, cause })
}
