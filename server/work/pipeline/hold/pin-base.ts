/** Records the version of the base prices in a hold that uses the prices of a list. */

import type { CallLabels } from '../../../base/lib/call-labels.ts'
import type { Model } from '../../../money/catalog/catalog.ts'

/** Adds the version of the base prices if the model is sold at those of a price list. */
export function pinBase(
  labels: CallLabels | undefined,
  { list }: Pick<Model, 'list'>,
): CallLabels | undefined {
  const version = list?.baseVersion
  return version ? { ...labels, base_version: Number(version) } : labels
}
