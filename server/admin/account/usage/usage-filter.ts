/** Converts the query of the usage pages to the store's filter. */
import { parseAmount } from '../../../lib/money.ts'
import type { UsageFilter } from '../../../usage/store.ts'
import type { ReadQuery } from '../../route.ts'
import type { usageContract } from './contract.ts'

type Query = Omit<
  ReadQuery<(typeof usageContract)['GET /accounts/:account_id/usage']>,
  'limit' | 'cursor'
>

export function readUsageFilter(accountId: string, query: Query): Omit<UsageFilter, 'limit'> {
  const { from, to, model, endpoint, key, status, request_id, task_id, charged_at_least, order } =
    query
  const chargedAtLeast = charged_at_least === undefined ? undefined : parseAmount(charged_at_least)
  return {
    accountId,
    ...(from ? { from } : {}),
    ...(to ? { to } : {}),
    ...(model ? { model } : {}),
    ...(endpoint ? { endpoint } : {}),
    ...(key ? { keyId: key } : {}),
    ...(status ? { status } : {}),
    ...(request_id ? { requestId: request_id } : {}),
    ...(task_id ? { taskId: task_id } : {}),
    ...(chargedAtLeast ? { chargedAtLeast } : {}),
    ...(order === 'oldest' ? { isAscending: true } : {}),
  }
}
