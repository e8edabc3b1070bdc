/** The access log and the metrics of requests: what is known when an answer is through. */

import type { Context } from '../http/context.ts'
import { ERRORS, type GatewayError } from '../lib/errors.ts'
import { formatAmount } from '../lib/money.ts'
import type { Services } from '../pipeline/services.ts'

/** One line in the log and one observation for every request. */
export function accountFor(
  context: Context,
  error: GatewayError | undefined,
  { log, metrics }: Pick<Services, 'log' | 'metrics'>,
): void {
  const { route, facts, response, requestId, startedAt } = context
  const seconds = (performance.now() - startedAt) / 1000
  const outcome = facts.outcome ?? 'ok'
  const status = response.statusCode
  metrics.call({ endpoint: route, outcome, status, seconds })
  const fields = {
    request_id: requestId,
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
  // That it is not ready is logged once, when it changes, not at every question.
  if (error && ERRORS[error.row].status >= 500 && route !== '/readyz') {
    log.error({ ...fields, error: error.details.cause ?? error }, 'request failed')
  } else {
    log.debug(fields, 'request')
  }
}
