/** API key management for operators. Refusals are OperatorErrors. */

import type { Sql, TransactionSql } from 'postgres'
import { problemOfTags } from '../../base/lib/call-labels.ts'
import { newId } from '../../base/lib/ids.ts'
import type { CallLimits } from '../../base/lib/kinds-and-states.ts'
import type { Nanos } from '../../base/lib/money.ts'
import { OperatorError, refuseUnknownAccount } from '../../base/lib/operator-error.ts'
import { createApiKey, displayApiKey, hashApiKey } from '../../base/lib/secrets/api-key.ts'
import { lockKeyHolder } from './key-holder-store.ts'
import {
  type ApiKeyRow,
  accountExists,
  insertKey,
  type KeyLabels,
  lockRotation,
  retireKey,
  selectKeys,
  startSpend,
  updateKey,
  updateKeyDisabled,
  updateSpendLimit,
} from './key-store.ts'
import { checkNetworks, type LimitsChange, mergeLimits } from './manage-accounts.ts'

export type { ApiKeyRow, KeyLabels } from './key-store.ts'

export interface NewKey {
  readonly accountId: string
  readonly name?: string
  /** Model ids that the key may call; null or absent means all. */
  readonly models?: readonly string[] | null
  /** Networks from which it may be used; empty or absent means all. */
  readonly allowedIps?: readonly string[]
  readonly limits?: CallLimits
  readonly spendLimitNanos?: Nanos | null
  readonly expiresAt?: Date | null
  /** The id of the person who creates it. */
  readonly createdBy?: string
  /** The id of the member to whom it belongs; null or absent: the account's own. */
  readonly personId?: string | null
  readonly labels?: Partial<KeyLabels>
}

/** The labels of a key that does not set any. */
export const NO_LABELS: KeyLabels = {
  tags: [],
  allow_tags: false,
  required_tags: [],
  cost_in_answers: false,
}

/** A key with its text, which cannot be shown again. */
export interface CreatedKey extends ApiKeyRow {
  readonly key: string
}

export async function createKey(sql: Sql, options: NewKey): Promise<CreatedKey> {
  if (!(await accountExists(sql, options.accountId))) {
    refuseUnknownAccount(options.accountId)
  }
  const { models = null, expiresAt = null, spendLimitNanos = null, personId = null } = options
  checkFuture(expiresAt)
  const labels = mergeLabels(NO_LABELS, options.labels ?? {})
  checkLabels(labels)
  const content = {
    ...labels,
    account_id: options.accountId,
    name: options.name ?? '',
    models: models && [...models],
    allowed_ips: checkNetworks(options.allowedIps ?? []),
    limits: options.limits ?? {},
    spend_limit: spendLimitNanos,
    expires_at: expiresAt,
    created_by: personId ?? options.createdBy ?? null,
    person_id: personId,
  }
  return await sql.begin(async (transaction) => {
    if (personId !== null) await lockKeyHolder(transaction, options.accountId, personId)
    return await insertNew(transaction, content)
  })
}

type KeyContent = Omit<Parameters<typeof insertKey>[1], 'id' | 'hash' | 'display'>

async function insertNew(sql: TransactionSql, content: KeyContent): Promise<CreatedKey> {
  const key = createApiKey()
  const id = newId('key')
  await insertKey(sql, { ...content, id, hash: hashApiKey(key), display: displayApiKey(key) })
  return { ...(await showKey(sql, id)), key }
}

/** Lists an account's keys, oldest first. */
export async function listKeys(sql: Sql, accountId: string): Promise<ApiKeyRow[]> {
  if (!(await accountExists(sql, accountId))) {
    refuseUnknownAccount(accountId)
  }
  return await selectKeys(sql, { accountId })
}

export async function showKey(sql: Sql | TransactionSql, id: string): Promise<ApiKeyRow> {
  const [row] = await selectKeys(sql, { id })
  return row ?? noKey(id)
}

/**
 * Enables or disables a key. A disabled key is refused within five seconds; a key of a person who
 * may no longer have one stays disabled.
 */
export async function setKeyDisabled(sql: Sql, id: string, disabled: boolean): Promise<ApiKeyRow> {
  return await sql.begin(async (transaction) => {
    if (!disabled) await lockHolderOf(transaction, await showKey(transaction, id))
    if (!(await updateKeyDisabled(transaction, id, disabled))) noKey(id)
    return await showKey(transaction, id)
  })
}

async function lockHolderOf(transaction: TransactionSql, key: ApiKeyRow): Promise<void> {
  if (key.person_id !== null) await lockKeyHolder(transaction, key.account_id, key.person_id)
}

/** Absent members stay unchanged. */
export interface KeyChange {
  readonly name?: string | undefined
  readonly models?: readonly string[] | null | undefined
  readonly allowedIps?: readonly string[] | undefined
  readonly limits?: LimitsChange | undefined
  readonly spendLimitNanos?: Nanos | null | undefined
  readonly expiresAt?: Date | null | undefined
  /** The id of the member to whom it is to belong; null: the account's own. */
  readonly personId?: string | null | undefined
  readonly labels?: { readonly [Name in keyof KeyLabels]?: KeyLabels[Name] | undefined } | undefined
}

/**
 * Changes a key. The spend limit also applies to the keys it was rotated from and to, which share
 * one counter. A first limit counts what all of them have spent before; gateways may let calls
 * through uncounted for up to five seconds, until they have noticed it.
 */
export async function changeKey(sql: Sql, id: string, change: KeyChange): Promise<ApiKeyRow> {
  if (change.expiresAt) checkFuture(change.expiresAt)
  return await sql.begin((transaction) => changeKeyIn(transaction, id, change))
}

/** Changes a key within a transaction, even an expired one. */
export async function changeKeyIn(
  transaction: TransactionSql,
  id: string,
  change: KeyChange,
): Promise<ApiKeyRow> {
  const { personId } = change
  if (typeof personId === 'string') {
    const { account_id: accountId } = await showKey(transaction, id)
    await lockKeyHolder(transaction, accountId, personId)
  }
  const first = await lockRotation(transaction, id)
  const key = await showKey(transaction, id)
  const { name = key.name, models = key.models, spendLimitNanos } = change
  if (spendLimitNanos !== undefined) {
    const accountId = key.account_id
    const isFirst = spendLimitNanos !== null && key.spend_limit === null
    if (isFirst) await startSpend(transaction, { first, accountId })
    await updateSpendLimit(transaction, first, spendLimitNanos)
  }
  const labels = mergeLabels(key, change.labels ?? {})
  checkLabels(labels)
  await updateKey(transaction, {
    ...labels,
    created_by: personId ?? key.created_by,
    person_id: personId === undefined ? key.person_id : personId,
    id,
    name,
    models: models && [...models],
    allowed_ips: checkNetworks(change.allowedIps ?? key.allowed_ips),
    limits: mergeLimits(key.limits, change.limits ?? {}),
    expires_at: change.expiresAt === undefined ? key.expires_at : change.expiresAt,
  })
  return await showKey(transaction, id)
}

/**
 * Replaces a key by a new one; the old key stays valid for the overlap. Both share a spend limit
 * and its counter.
 */
export async function rotateKey(
  sql: Sql,
  id: string,
  overlapSeconds: number,
): Promise<{ readonly created: CreatedKey; readonly old: ApiKeyRow }> {
  return await sql.begin(async (transaction) => {
    await lockHolderOf(transaction, await showKey(transaction, id))
    await lockRotation(transaction, id)
    const key = await showKey(transaction, id)
    if (key.replaced_by) throw new OperatorError(`${id} was rotated: use ${key.replaced_by}`)
    if (key.state !== 'active') throw new OperatorError(`${id} is ${key.state}: create a new key`)
    const { account_id, name, models, limits, spend_limit, expires_at } = key
    const { created_by, person_id, allowed_ips } = key
    const shared = { account_id, name, models, limits, spend_limit, expires_at, created_by }
    const content = { ...shared, person_id, allowed_ips, ...mergeLabels(key, {}) }
    const created = await insertNew(transaction, content)
    await retireKey(transaction, { id, replacedBy: created.id, overlapSeconds })
    const renewed = { ...(await showKey(transaction, created.id)), key: created.key }
    return { created: renewed, old: await showKey(transaction, id) }
  })
}

/** Absent members stay unchanged. */
function mergeLabels(key: KeyLabels, change: NonNullable<KeyChange['labels']>): KeyLabels {
  return {
    tags: [...new Set(change.tags ?? key.tags)],
    allow_tags: change.allow_tags ?? key.allow_tags,
    required_tags: [...new Set(change.required_tags ?? key.required_tags)],
    cost_in_answers: change.cost_in_answers ?? key.cost_in_answers,
  }
}

function checkLabels({ tags, required_tags: required }: KeyLabels): void {
  for (const [name, list] of Object.entries({ tags, required_tags: required })) {
    const problem = problemOfTags(list)
    if (problem) throw new OperatorError(`${name}: ${problem}`)
  }
}

function checkFuture(expiresAt: Date | null): void {
  if (expiresAt && expiresAt.getTime() <= Date.now()) {
    throw new OperatorError('the expiry must be in the future')
  }
}

function noKey(id: string): never {
  throw new OperatorError(`there is no key ${id}`)
}
