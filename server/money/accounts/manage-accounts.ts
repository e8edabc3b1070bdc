/** Account management for operators. Refusals are OperatorErrors. */

import type { Sql, TransactionSql } from 'postgres'
import { CURRENCY_PROBLEM, isCurrency } from '../../base/lib/currencies.ts'
import { newId } from '../../base/lib/ids.ts'
import type { CallLimits } from '../../base/lib/kinds-and-states.ts'
import type { Nanos } from '../../base/lib/money.ts'
import { readNetworks } from '../../base/lib/networks.ts'
import { OperatorError, refuseUnknownAccount } from '../../base/lib/operator-error.ts'
import {
  type AccountRow,
  type AlertChange,
  insertAccount,
  type LimitsChange,
  type MediaChange,
  postOpeningBalance,
  selectAccounts,
  updateAlerts,
  updateAllowedIps,
  updateLimits,
  updateMedia,
  updateStatus,
} from './account-store.ts'
import { assignPriceList } from './assign-price-list.ts'

export type { AccountRow, LimitsChange } from './account-store.ts'

const NAME_LENGTH_MAX = 200
const LIST_MAX = 10_000

export interface NewAccount {
  readonly name: string
  readonly currency?: string
  /** Credited as a top-up in the same transaction; zero or absent for an empty account. */
  readonly openingBalanceNanos?: Nanos
  readonly limits?: CallLimits
  /** The price list of the account; absent: the base prices. */
  readonly priceList?: string
  /** The actor recorded in the audit trail. */
  readonly actor: string
}

/** Creates an account and its opening balance: both or neither. */
export async function createAccount(sql: Sql, account: NewAccount): Promise<AccountRow> {
  const id = await sql.begin((transaction) => openAccount(transaction, account))
  return await showAccount(sql, id)
}

/** Does the same within a transaction. Returns the id. Throws OperatorError. */
export async function openAccount(
  transaction: TransactionSql,
  account: NewAccount,
): Promise<string> {
  const { name, currency = 'CNY', openingBalanceNanos = 0n, limits = {}, actor } = account
  const { priceList } = account
  if (name.trim() === '' || name.length > NAME_LENGTH_MAX) {
    throw new OperatorError(`a name needs 1 to ${NAME_LENGTH_MAX} characters`)
  }
  if (!isCurrency(currency)) throw new OperatorError(`the currency ${CURRENCY_PROBLEM}`)
  if (openingBalanceNanos < 0n) throw new OperatorError('an opening balance must not be negative')
  const id = newId('acct')
  await insertAccount(transaction, { id, name, currency, limits })
  if (priceList !== undefined) await assignPriceList(transaction, id, priceList, actor)
  if (openingBalanceNanos === 0n) return id
  const creditId = newId('cred')
  const opening = { creditId, accountId: id, amountNanos: openingBalanceNanos, actor }
  await postOpeningBalance(transaction, opening)
  return id
}

/** Lists accounts with their balances, oldest first. */
export function listAccounts(sql: Sql, limit: number = LIST_MAX): Promise<AccountRow[]> {
  return selectAccounts(sql, { limit })
}

export async function showAccount(sql: Sql, id: string): Promise<AccountRow> {
  const [row] = await selectAccounts(sql, { id, limit: 1 })
  return row ?? refuseUnknownAccount(id)
}

/**
 * Sets an account's status. New calls of a suspended account are refused within five seconds; open
 * tasks finish.
 */
export async function setAccountStatus(
  sql: Sql,
  id: string,
  status: AccountRow['status'],
): Promise<AccountRow> {
  if (!(await updateStatus(sql, id, status))) refuseUnknownAccount(id)
  return await showAccount(sql, id)
}

/** Changes the limits in `change`; null removes one. */
export async function setAccountLimits(
  sql: Sql,
  id: string,
  change: LimitsChange,
): Promise<AccountRow> {
  if (!(await updateLimits(sql, id, change))) refuseUnknownAccount(id)
  return await showAccount(sql, id)
}

/** Changes the networks from which an account's keys may be used; none: from everywhere. */
export async function setAccountAllowedIps(
  sql: Sql,
  id: string,
  networks: readonly string[],
): Promise<AccountRow> {
  if (!(await updateAllowedIps(sql, id, checkNetworks(networks)))) refuseUnknownAccount(id)
  return await showAccount(sql, id)
}

/** Returns networks in canonical form. Throws OperatorError for a text that is not a network. */
export function checkNetworks(list: readonly string[]): string[] {
  try {
    return readNetworks(list)
  } catch (error) {
    if (error instanceof RangeError) throw new OperatorError(`allowed_ips: ${error.message}`)
    throw error
  }
}

/** Changes an account's limits for files and media; prompts already stored stay. */
export async function setAccountMedia(
  sql: Sql,
  id: string,
  change: MediaChange,
): Promise<AccountRow> {
  if (!(await updateMedia(sql, id, change))) refuseUnknownAccount(id)
  return await showAccount(sql, id)
}

/** Changes where alerts are sent, and the balance below which one is sent. */
export async function setAccountAlerts(
  sql: Sql,
  id: string,
  change: AlertChange,
): Promise<AccountRow> {
  if (!(await updateAlerts(sql, id, change))) refuseUnknownAccount(id)
  return await showAccount(sql, id)
}

export function mergeLimits(limits: CallLimits, change: LimitsChange): CallLimits {
  const merged = Object.entries({ ...limits, ...change })
  return Object.fromEntries(merged.filter(([, limit]) => typeof limit === 'number'))
}
