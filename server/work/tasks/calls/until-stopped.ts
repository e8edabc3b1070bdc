/** Ends a worker's long calls when the gateway stops. */

import { UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import type { Services } from '../../pipeline/services.ts'

/**
 * Resolves with the work. Rejects with UpstreamFailure `unknown` when the gateway stops first: the
 * upstream may finish the call, but its answer will not be read.
 */
export async function untilStopped<T>(
  { inFlight }: Pick<Services, 'inFlight'>,
  work: Promise<T>,
): Promise<T> {
  const stopping = Promise.withResolvers<never>()
  const unregister = inFlight.add({
    abort: (message) => stopping.reject(new UpstreamFailure('unknown', { message })),
  })
  try {
    return await Promise.race([work, stopping.promise])
  } finally {
    unregister()
  }
}
