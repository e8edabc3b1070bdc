/**
 * Makes accounts and keys match a configuration file. What the file does not name stays unchanged:
 * an account has a balance, so only an explicit command of an operator ends it.
 */

import type { TransactionSql } from 'postgres'
import { CURRENCY_PROBLEM, isCurrency } from '../../base/lib/currencies.ts'
import { findDifferences, type LeafDifference } from '../../base/lib/differences.ts'
import { OperatorError } from '../../base/lib/operator-error.ts'
import type { FileAccount, FileKey } from './account-file.ts'
import { insertAccount } from './account-store.ts'
import { assignPriceList } from './assign-price-list.ts'
import { describeAccount, describeKey } from './export-accounts.ts'
import {
  type ConfiguredAccount,
  type ConfiguredKey,
  saveAccountColumns,
  saveDisabled,
  saveReplacement,
  selectConfiguredAccounts,
  selectConfiguredKeys,
} from './file-store.ts'
import { insertKey } from './key-store.ts'
import type { LimitsChange } from './manage-accounts.ts'
import { changeKeyIn } from './manage-keys.ts'

export interface AccountChange {
  readonly kind: 'account' | 'key'
  readonly id: string
  readonly change: 'added' | 'changed'
  readonly what: readonly string[]
  readonly differences?: readonly LeafDifference[]
}

/** Throws OperatorError with the path of each value that contradicts the database. */
export async function applyAccounts(
  sql: TransactionSql,
  accounts: readonly FileAccount[],
): Promise<AccountChange[]> {
  if (accounts.length === 0) return []
  const known = new Map((await selectConfiguredAccounts(sql)).map((row) => [row.id, row]))
  const rows = await selectConfiguredKeys(sql)
  refuseContradictions(accounts, known, rows)
  const keys = new Map(rows.map((row) => [row.id, row]))
  const changes: AccountChange[] = []
  for (const account of accounts) {
    changes.push(...(await applyAccount(sql, account, known.get(account.id))))
    for (const key of account.keys) {
      changes.push(...(await applyKey(sql, account.id, key, keys.get(key.id))))
    }
    await joinRotations(sql, account.keys, keys)
  }
  return changes
}

async function applyAccount(
  sql: TransactionSql,
  { keys: _, ...file }: FileAccount,
  row: ConfiguredAccount | undefined,
): Promise<AccountChange[]> {
  const { id } = file
  const list = file.price_list === undefined ? (row?.price_list ?? null) : file.price_list
  const account = { ...file, price_list: list }
  const differences = row ? findDifferences(describeAccount(row), describeAccount(account)) : []
  if (row && differences.length === 0) return []
  if (!row) await insertAccount(sql, account)
  await saveAccountColumns(sql, account)
  if (list !== (row?.price_list ?? null)) await assignPriceList(sql, id, list, 'apply')
  return [row ? changed('account', id, differences) : added('account', id)]
}

async function applyKey(
  sql: TransactionSql,
  accountId: string,
  file: FileKey,
  row: ConfiguredKey | undefined,
): Promise<AccountChange[]> {
  // A file that is older than a rotation, or than a person's departure, does not undo it.
  const key = {
    ...file,
    replaced_by: file.replaced_by ?? row?.replaced_by ?? null,
    disabled: file.disabled || row?.is_ended === true,
  }
  const { id, name, models, limits, spend_limit: spend, expires_at: expires, disabled } = key
  const { tags, allow_tags, required_tags, cost_in_answers } = key
  const labels = { tags, allow_tags, required_tags, cost_in_answers }
  const differences = row ? findDifferences(describeKey(row), describeKey(key)) : []
  if (row && differences.length === 0) return []
  if (row) {
    await changeKeyIn(sql, id, {
      name,
      models,
      expiresAt: expires,
      labels,
      allowedIps: key.allowed_ips,
      limits: { ...removeAll(row.limits), ...limits },
      ...(spend === row.spend_limit ? {} : { spendLimitNanos: spend }),
    })
  } else {
    const hash = Buffer.from(key.hash, 'hex')
    const columns = { id, name, models, limits, display: key.display, hash }
    const place = {
      account_id: accountId,
      allowed_ips: key.allowed_ips,
      spend_limit: spend,
      expires_at: expires,
      created_by: null,
      person_id: null,
    }
    await insertKey(sql, { ...columns, ...place, ...labels })
  }
  if (disabled !== (row?.disabled ?? false)) await saveDisabled(sql, id, disabled)
  return [row ? changed('key', id, differences) : added('key', id)]
}

function removeAll(limits: FileKey['limits']): LimitsChange {
  return Object.fromEntries(Object.keys(limits).map((name) => [name, null]))
}

/** Links rotated keys oldest first, so that all of them share the first one's spend counter. */
async function joinRotations(
  sql: TransactionSql,
  keys: readonly FileKey[],
  rows: ReadonlyMap<string, ConfiguredKey>,
): Promise<void> {
  const waiting = new Map(
    keys
      .filter((key) => key.replaced_by && rows.get(key.id)?.replaced_by !== key.replaced_by)
      .map((key) => [key.id, key.replaced_by]),
  )
  while (waiting.size > 0) {
    const later = new Set(waiting.values())
    const first = [...waiting].find(([id]) => !later.has(id))
    const [id, replacedBy] = first ?? []
    if (!id || !replacedBy) throw new OperatorError('the "replaced_by" of keys form a cycle')
    await saveReplacement(sql, id, replacedBy)
    waiting.delete(id)
  }
}

/** Currencies and hashes never change, and a key belongs to one account. */
function refuseContradictions(
  accounts: readonly FileAccount[],
  known: ReadonlyMap<string, ConfiguredAccount>,
  rows: readonly ConfiguredKey[],
): void {
  const problems: string[] = []
  const byId = new Map<string, { account: string; hash: string }>(
    rows.map(({ id, account_id: account, hash }) => [id, { account, hash }]),
  )
  const byHash = new Map(rows.map(({ id, hash }) => [hash, id]))
  const seen = new Set<string>()
  for (const [index, account] of accounts.entries()) {
    const path = `accounts[${index}]`
    const row = known.get(account.id)
    if (seen.has(account.id)) problems.push(`${path}.id: "${account.id}" appears twice`)
    seen.add(account.id)
    if (!row && !isCurrency(account.currency)) {
      problems.push(`${path}.currency: ${CURRENCY_PROBLEM}`)
    }
    if (row && row.currency !== account.currency) {
      problems.push(`${path}.currency: ${account.id} pays in ${row.currency}, which never changes`)
    }
    const ids = new Set(account.keys.map(({ id }) => id))
    for (const [place, key] of account.keys.entries()) {
      const at = `${path}.keys[${place}]`
      if (seen.has(key.id)) problems.push(`${at}.id: "${key.id}" appears twice`)
      seen.add(key.id)
      const owner = byId.get(key.id) ?? { account: account.id, hash: key.hash }
      if (owner.account !== account.id) problems.push(`${at}.id: belongs to ${owner.account}`)
      if (owner.hash !== key.hash) problems.push(`${at}.hash: ${key.id} has another hash`)
      const holder = byHash.get(key.hash) ?? key.id
      if (holder !== key.id) problems.push(`${at}.hash: is the hash of ${holder}`)
      byHash.set(key.hash, key.id)
      const replacement = key.replaced_by
      if (replacement && !ids.has(replacement) && byId.get(replacement)?.account !== account.id) {
        problems.push(`${at}.replaced_by: the account has no key ${replacement}`)
      }
    }
  }
  if (problems.length > 0) throw new OperatorError(problems.join('\n'))
}

function added(kind: AccountChange['kind'], id: string): AccountChange {
  return { kind, id, change: 'added', what: [] }
}

function changed(
  kind: AccountChange['kind'],
  id: string,
  differences: readonly LeafDifference[],
): AccountChange {
  const what = [...new Set(differences.map(({ path }) => path.split(/[.[]/, 1)[0] ?? ''))]
  return { kind, id, change: 'changed', what, differences }
}
