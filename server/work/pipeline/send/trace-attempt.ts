/** Notes an attempt for the trace and the metrics of its call; gives the trace to the vendor. */
import type { Context } from '../../../base/http/context.ts'
import { formatTraceParent, newSpanId } from '../../../base/http/trace-context.ts'
import type { UsableRoute } from '../request/find-routes.ts'
import type { Services } from '../services.ts'
import type { WireTrace } from './wire.ts'

export interface AttemptTrace {
  readonly wire: WireTrace
  /** Ends the attempt; `errorType` is the kind of its failure. */
  end(errorType?: string): void
}

export function traceAttempt(
  { trace, facts }: Context,
  { channel, upstreamModel, target }: UsableRoute,
  { upstreams }: Pick<Services, 'upstreams'>,
): AttemptTrace {
  const spanId = trace?.isOurs ? newSpanId() : (trace?.spanId ?? '')
  const startedAt = performance.now()
  let address: string | undefined
  return {
    wire: {
      traceparent: trace && formatTraceParent(trace, spanId),
      onSend(url) {
        address = url
      },
    },
    end(errorType) {
      const provider = upstreams.get(target.upstream)?.provider ?? target.upstream
      const endedAt = performance.now()
      const place = { provider, channel, upstreamModel, address }
      facts.attemptFacts ??= []
      facts.attemptFacts.push({ spanId, startedAt, endedAt, ...place, errorType })
    },
  }
}
