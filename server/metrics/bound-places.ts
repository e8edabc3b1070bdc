/** Bounds the combinations of endpoint, model and channel that have figures of their own. */
import type { CallPlace } from '../pipeline/pipeline-metrics.ts'

const OTHER = 'other'

/**
 * Returns a function that finds the figures of a place, which `create` makes once. The places after
 * the first `most` share those of the model and the channel `other`; endpoints are bounded by the
 * code.
 */
export function createPlaces<Figures>(
  most: number,
  create: (place: CallPlace) => Figures,
): (place: CallPlace) => Figures {
  const known = new Map<string, Figures>()
  const others = new Map<string, Figures>()
  return ({ endpoint, model, channel }) => {
    const id = `${endpoint}\n${model}\n${channel}`
    const own = known.get(id)
    if (own) return own
    const isOwn = known.size < most
    const figures = isOwn
      ? create({ endpoint, model, channel })
      : (others.get(endpoint) ?? create({ endpoint, model: OTHER, channel: OTHER }))
    if (isOwn) known.set(id, figures)
    else others.set(endpoint, figures)
    return figures
  }
}
