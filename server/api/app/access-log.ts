/** Writes the access log and the request metrics when a response is finished. */

import { CALLER_LEFT, type Context } from '../../base/http/context.ts'
import { ERRORS, type GatewayError } from '../../base/lib/errors.ts'
import { formatAmount } from '../../base/lib/money.ts'
import { INPUT_UNITS, OUTPUT_UNITS, sumOf } from '../../base/lib/units.ts'
import type { Services } from '../../work/pipeline/services.ts'

export const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz'])

/**
 * Writes one line to the log and one observation to the metrics for every request. Requests of the
 * public API are logged at level info, those of the console at debug, and probes are not counted.
 */
export function recordRequest(
  context: Context,
  error: GatewayError | undefined,
  { log, metrics }: Pick<Services, 'log' | 'metrics'>,
  isLogged: boolean,
): void {
  const { route, facts, startedAt, response } = context
  const { at, status } = context.end ?? { at: performance.now(), status: response.statusCode }
  const isProbe = PROBES.has(route)
  const seconds = (at - startedAt) / 1000
  const left = status === CALLER_LEFT ? 'caller_gone' : undefined
  const outcome = left ?? facts.outcome ?? (error ? 'refused' : 'ok')
  if (!isProbe) metrics.call({ route, outcome, status, seconds, refusal: error?.outcome })
  // Readiness changes are logged once, when they happen, not at every probe.
  if (error && ERRORS[error.row].status >= 500 && !isProbe) {
    const fields = describeRequest(context, { status, seconds, outcome })
    log.error({ ...fields, error: error.details.cause ?? error }, 'request failed')
  } else if (isLogged && !isProbe) {
    log.info(describeRequest(context, { status, seconds, outcome }), 'request')
  } else {
    log.debug({ request_id: context.requestId, route, status, outcome }, 'request')
  }
}

interface End {
  readonly status: number
  readonly seconds: number
  readonly outcome: string
}

function describeRequest(context: Context, { status, seconds, outcome }: End) {
  const { route, facts, requestId, clientRequestId, startedAt, timings, trace } = context
  const { usage = {}, firstOutputAt, chargedNanos } = facts
  return {
    request_id: requestId,
    client_request_id: clientRequestId,
    ...(trace?.isOurs && trace.isSampled ? { trace_id: trace.traceId, span_id: trace.spanId } : {}),
    method: context.request.method,
    route,
    status,
    outcome,
    duration_ms: Math.round(seconds * 1000),
    upstream_ms: timings.upstream && Math.round(timings.upstream.tookMs),
    first_token_ms: firstOutputAt && Math.round(firstOutputAt - startedAt),
    account_id: facts.accountId,
    key_id: facts.keyId,
    model: facts.model?.slice(0, 100),
    channel: facts.channel,
    attempts: facts.attempts,
    input_tokens: facts.usage && sumOf(usage, INPUT_UNITS),
    output_tokens: facts.usage && sumOf(usage, OUTPUT_UNITS),
    charged: chargedNanos === undefined ? undefined : formatAmount(chargedNanos),
  }
}
