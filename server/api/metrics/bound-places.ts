/** Bounds the combinations of endpoint, model and channel that have figures of their own. */
import type { CallPlace } from '../../work/pipeline/pipeline-metrics.ts'

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
  // By endpoint, model and channel: a text of all three would be built and hashed for each call.
  const known = new Map<string, Map<string, Map<string, Figures>>>()
  const others = new Map<string, Figures>()
  let size = 0

  function add({ endpoint, model, channel }: CallPlace): Figures {
    const figures = create({ endpoint, model, channel })
    const ofEndpoint = known.get(endpoint) ?? new Map<string, Map<string, Figures>>()
    const ofModel = ofEndpoint.get(model) ?? new Map<string, Figures>()
    known.set(endpoint, ofEndpoint.set(model, ofModel.set(channel, figures)))
    size += 1
    return figures
  }

  function other(endpoint: string): Figures {
    let figures = others.get(endpoint)
    if (!figures) {
      figures = create({ endpoint, model: OTHER, channel: OTHER })
      others.set(endpoint, figures)
    }
    return figures
  }

  return (place) => {
    const own = known.get(place.endpoint)?.get(place.model)?.get(place.channel)
    return own ?? (size < most ? add(place) : other(place.endpoint))
  }
}
