/** Converts the query of the usage pages to the store's filter. */
import type { Sql } from 'postgres'
import type { UsageFilter } from '../../../../money/usage/store.ts'
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
  const { charged_at_least: chargedAtLeast, request_id: requestId, task_id: taskId } = query
  const { from, to, model, endpoint, status, order, tag, end_user: endUser } = query
  const keyIds = await readKeyIds(sql, accountId, query)
  const texts = { model, endpoint, status, requestId, taskId, tag, endUser }
  return { ...texts, accountId, from, to, keyIds, chargedAtLeast, isAscending: order === 'oldest' }
}
