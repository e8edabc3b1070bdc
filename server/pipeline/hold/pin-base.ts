/** Pins the version of the base prices in a hold at the prices of a list. */
import type { Model } from '../../catalog/catalog.ts'
import type { CallLabels } from '../../lib/call-labels.ts'

/** Adds the version of the base prices, where the model is sold at those of a price list. */
export function pinBase(
  labels: CallLabels | undefined,
  { list }: Pick<Model, 'list'>,
): CallLabels | undefined {
  const version = list?.baseVersion
  return version ? { ...labels, base_version: Number(version) } : labels
}
