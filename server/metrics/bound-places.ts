/** Bounds the combinations of endpoint, model and channel that have figures of their own. */
import type { CallPlace } from '../pipeline/pipeline-metrics.ts'

const OTHER = 'other'

/**
 * Returns a function that leaves the first `most` places as they are, and counts all later ones
 * under the model and the channel `other`. Endpoints are bounded by the code.
 */
export function createPlaceBound(most: number): (place: CallPlace) => CallPlace {
  const known = new Set<string>()
  return ({ endpoint, model, channel }) => {
    const id = `${endpoint}\n${model}\n${channel}`
    if (!known.has(id)) {
      if (known.size >= most) return { endpoint, model: OTHER, channel: OTHER }
      known.add(id)
    }
    return { endpoint, model, channel }
  }
}
