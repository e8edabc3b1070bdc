/** Calls of a worker that last, and a gateway that stops meanwhile. */
import type { Services } from '../../pipeline/services.ts'
import { UpstreamFailure } from '../../upstreams/failure.ts'

/**
 * The work, or an UpstreamFailure of kind `unknown` as soon as the gateway has waited long enough:
 * what was sent may be carried out, and nobody will hear of it.
 */
export async function untilStopped<T>(
  { inFlight }: Pick<Services, 'inFlight'>,
  work: Promise<T>,
): Promise<T> {
  const stopping = Promise.withResolvers<never>()
  const leave = inFlight.add({
    abort: (message) => stopping.reject(new UpstreamFailure('unknown', { message })),
  })
  try {
    return await Promise.race([work, stopping.promise])
  } finally {
    leave()
  }
}
