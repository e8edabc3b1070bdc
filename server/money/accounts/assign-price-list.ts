/** Gives an account another price list. Refusals are OperatorErrors. */
import type { TransactionSql } from 'postgres'
import { OperatorError, refuseUnknownAccount } from '../../base/lib/operator-error.ts'
import { lockForList, saveAccountList } from './price-list-store.ts'

/**
 * Gives the account a list, or none. It applies from the next call; calls and tasks in progress
 * keep their prices. Returns false if the account has it already.
 */
export async function assignPriceList(
  sql: TransactionSql,
  accountId: string,
  listId: string | null,
  actor: string,
): Promise<boolean> {
  const { account, list } = await lockForList(sql, accountId, listId)
  if (!account) refuseUnknownAccount(accountId)
  if (listId !== null && list?.status !== 'active') {
    throw new OperatorError(`there is no price list ${listId}: choose another, or create it first`)
  }
  if (list && list.currency !== account.currency) {
    const problem = `${listId} is in ${list.currency}, this account pays in ${account.currency}`
    throw new OperatorError(problem)
  }
  if (account.price_list === listId) return false
  await saveAccountList(sql, accountId, listId, actor)
  return true
}
