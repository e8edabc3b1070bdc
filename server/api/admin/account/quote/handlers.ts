/** Quotes: the pipeline's own estimate for a request that is not sent. */

import { invalidField } from '../../../../base/lib/errors.ts'
import { selectPayer } from '../../../../money/accounts/price-list-store.ts'
import { type DryRunRequest, dryRunCall } from '../../../../work/pipeline/hold/dry-run.ts'
import { explainHold } from '../../../../work/pipeline/price/hold-estimate.ts'
import type { Customer } from '../../../../work/pipeline/request/resolve.ts'
import type { Endpoint, MeteredEndpoint, TaskEndpoint } from '../../../endpoints/endpoint.ts'
import type { HandlersOf } from '../../handler.ts'
import { found } from '../../refusal.ts'
import type { AdminServices } from '../../services.ts'
import type { quoteContract } from './contract.ts'

type PaidEndpoint = MeteredEndpoint | TaskEndpoint

function isPaid(endpoint: Endpoint): endpoint is PaidEndpoint {
  return endpoint.kind === 'metered' || endpoint.kind === 'task'
}

function findEndpoint(path: string, services: AdminServices): PaidEndpoint {
  const endpoint = services
    .endpoints()
    .filter(isPaid)
    .find(({ method, paths }) => method === 'POST' && paths.includes(path))
  if (!endpoint) throw invalidField('path', 'not the path of a paid endpoint')
  return endpoint
}

/** Throws the error with which the request itself would be refused. */
function dryRunAny(
  endpoint: PaidEndpoint,
  request: DryRunRequest,
  customer: Customer,
  services: AdminServices,
) {
  return endpoint.kind === 'task'
    ? services.tasks.dryRun(endpoint.submission, request, customer)
    : dryRunCall(endpoint.metering, request, customer, services)
}

export const quoteHandlers: HandlersOf<typeof quoteContract> = {
  async 'POST /accounts/:account_id/quote'({ params, body, context }, services) {
    const { account_id: accountId } = params
    const { currency, available } = found(await services.ledger.balance(accountId), 'account')
    const payer = found(await selectPayer(services.sql, accountId), 'account')
    const { path, query, headers, file, body: value } = body
    const { call, quoted } = await dryRunAny(
      findEndpoint(path, services),
      {
        value,
        query: new URLSearchParams(query),
        headers,
        requestId: context.requestId,
        file: file && {
          bytes: file.bytes,
          head: Buffer.from(file.head, 'base64'),
          tail: Buffer.from(file.tail, 'base64'),
        },
      },
      { ...payer, accountId, models: null },
      services,
    )
    const { model } = call
    const { amountNanos } = quoted
    return {
      model: model.id,
      currency,
      free: model.free,
      amount: amountNanos,
      covered: available >= amountNanos,
      price_version: model.priceVersion,
      lines: explainHold(model, quoted),
    }
  },
}
