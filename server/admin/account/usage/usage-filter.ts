/** Converts the query of the usage pages to the store's filter. */
import type { Sql } from 'postgres'
import { parseAmount } from '../../../lib/money.ts'
import type { UsageFilter } from '../../../usage/store.ts'
import type { ReadQuery } from '../../route.ts'
import { selectKeysOfMember } from '../account-store.ts'
import type { usageContract } from './contract.ts'

type Query = Omit<
  ReadQuery<(typeof usageContract)['GET /accounts/:account_id/usage']>,
  'limit' | 'cursor'
>

/** Returns the ids of the keys that the query names, by key or by member; undefined for all. */
export async function readKeyIds(
  sql: Sql,
  accountId: string,
  { key, member }: Pick<Query, 'key' | 'member'>,
): Promise<readonly string[] | undefined> {
  if (!member) return key ? [key] : undefined
  const ids = await selectKeysOfMember(sql, accountId, member)
  return key ? ids.filter((id) => id === key) : ids
}

export async function readUsageFilter(
  sql: Sql,
  accountId: string,
  query: Query,
): Promise<Omit<UsageFilter, 'limit'>> {
  const { from, to, model, endpoint, status, request_id, task_id, charged_at_least, order } = query
  const keyIds = await readKeyIds(sql, accountId, query)
  const chargedAtLeast = charged_at_least === undefined ? undefined : parseAmount(charged_at_least)
  return {
    accountId,
    ...(from ? { from } : {}),
    ...(to ? { to } : {}),
    ...(model ? { model } : {}),
    ...(endpoint ? { endpoint } : {}),
    ...(keyIds ? { keyIds } : {}),
    ...(status ? { status } : {}),
    ...(request_id ? { requestId: request_id } : {}),
    ...(task_id ? { taskId: task_id } : {}),
    ...(chargedAtLeast ? { chargedAtLeast } : {}),
    ...(order === 'oldest' ? { isAscending: true } : {}),
  }
}
