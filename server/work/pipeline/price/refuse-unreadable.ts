/** Refuses values of a request that the conditions of a model's prices cannot read. */
import { invalidField } from '../../../base/lib/errors.ts'
import { isAbsent, type JsonObject } from '../../../base/lib/json.ts'
import type { Model } from '../../../money/catalog/catalog.ts'
import { canRead } from '../../../money/catalog/price/conditions.ts'

/**
 * Throws a 400 that names the first member of a request that a price depends on and whose value no
 * condition can read: a list, an object, or a string that only the vendor would read as a word, a
 * number or a size.
 */
export function refuseUnreadable(
  { free, prices }: Pick<Model, 'free' | 'prices'>,
  value: JsonObject,
) {
  if (free) return
  for (const name of new Set(prices.flatMap(({ when = {} }) => Object.keys(when)))) {
    const inner = Object.hasOwn(value, name) && name !== 'model' ? value[name] : undefined
    if (isAbsent(inner)) continue
    if (!isScalar(inner)) {
      const problem = 'must be a text, a number or a boolean: the price depends on it'
      throw invalidField(name, problem)
    }
    if (canRead(prices, name, inner)) continue
    const problem = 'must be a plain word, number or size (1024x1024): the price depends on it'
    throw invalidField(name, problem)
  }
}

const isScalar = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value)
