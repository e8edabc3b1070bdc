/** Writes the access log and the request metrics when a response is finished. */

import type { Context } from '../http/context.ts'
import { ERRORS, type GatewayError } from '../lib/errors.ts'
import { formatAmount } from '../lib/money.ts'
import type { Services } from '../pipeline/services.ts'

/** Writes one line to the log and one observation to the metrics for every request. */
export function recordRequest(
  context: Context,
  error: GatewayError | undefined,
  { log, metrics }: Pick<Services, 'log' | 'metrics'>,
): void {
  const { route, facts, response, requestId, clientRequestId, startedAt } = context
  const seconds = (performance.now() - startedAt) / 1000
  const outcome = facts.outcome ?? 'ok'
  const status = response.statusCode
  metrics.call({ endpoint: route, outcome, status, seconds })
  const fields = {
    request_id: requestId,
    client_request_id: clientRequestId,
    method: context.request.method,
    route,
    status,
    outcome,
    duration_ms: Math.round(seconds * 1000),
    account_id: facts.accountId,
    key_id: facts.keyId,
    model: facts.model?.slice(0, 100),
    channel: facts.channel,
    attempts: facts.attempts,
    charged: facts.chargedNanos === undefined ? undefined : formatAmount(facts.chargedNanos),
  }
  // Readiness changes are logged once, when they happen, not at every probe.
  if (error && ERRORS[error.row].status >= 500 && route !== '/readyz') {
    log.error({ ...fields, error: error.details.cause ?? error }, 'request failed')
  } else {
    log.debug(fields, 'request')
  }
}
