/** Lists, creates, changes, rotates and revokes keys. */

import { mergeLimits } from '../../../accounts/manage-accounts.ts'
import {
  changeKey,
  createKey,
  type KeyChange,
  rotateKey,
  setKeyDisabled,
} from '../../../accounts/manage-keys.ts'
import { formatAmount, type Nanos, parseAmount } from '../../../lib/money.ts'
import { describeChange } from '../../describe-change.ts'
import type { HandlersOf } from '../../handler.ts'
import { withOperatorErrors } from '../../operator-failure.ts'
import { toPage } from '../../page.ts'
import { found } from '../../refusal.ts'
import type { AdminServices } from '../../services.ts'
import type { keysContract } from './contract.ts'
import { findUsedKey, listUsedKeys, type UsedKeyRow } from './store.ts'

interface KeyParams {
  readonly account_id: string
  readonly key_id: string
}

/** Throws the 404 that foreign, unknown and malformed ids share. */
async function readKey({ sql }: AdminServices, params: KeyParams): Promise<UsedKeyRow> {
  return found(await findUsedKey(sql, params.account_id, params.key_id), 'key')
}

function describeKey(row: UsedKeyRow) {
  const spent = row.spent !== null && row.spent > row.charged ? row.spent : row.charged
  return {
    id: row.id,
    name: row.name,
    display: row.display,
    state: row.state,
    models: row.models,
    limits: row.limits,
    spend_limit: row.spend_limit === null ? null : formatAmount(row.spend_limit),
    spent: formatAmount(spent),
    held: row.held === null ? null : formatAmount(row.held),
    calls: Number(row.calls),
    last_used_at: row.last_used_at?.toISOString() ?? null,
    expires_at: row.expires_at?.toISOString() ?? null,
    replaced_by: row.replaced_by,
    created_at: row.created_at.toISOString(),
    created_by:
      row.created_by === null ? null : { user_id: row.created_by, name: row.creator_name ?? '' },
  }
}

/** The schema has checked the text. */
function toNanos(text: string | null): Nanos | null {
  return text === null ? null : (parseAmount(text) ?? null)
}

function toDate(text: string | null): Date | null {
  return text === null ? null : new Date(text)
}

async function setDisabled(services: AdminServices, params: KeyParams, disabled: boolean) {
  const { id } = await readKey(services, params)
  await setKeyDisabled(services.sql, id, disabled)
  return describeKey(await readKey(services, params))
}

export const keysHandlers: HandlersOf<typeof keysContract> = {
  async 'GET /accounts/:account_id/keys'({ params, query }, { sql }) {
    const { limit, cursor } = query
    const filter = { accountId: params.account_id, limit: limit + 1, after: cursor }
    return toPage(await listUsedKeys(sql, filter), limit, ({ id }) => id, describeKey)
  },
  async 'POST /accounts/:account_id/keys'({ params, body, note, session }, services) {
    const { name, models, limits, spend_limit: spendLimit, expires_at: expiresAt } = body
    const created = await withOperatorErrors(
      createKey(services.sql, {
        accountId: params.account_id,
        name,
        models,
        limits: mergeLimits({}, limits),
        spendLimitNanos: toNanos(spendLimit),
        expiresAt: toDate(expiresAt),
        createdBy: session.user.id,
      }),
    )
    note({ key_id: created.id })
    const row = await readKey(services, { ...params, key_id: created.id })
    return { ...describeKey(row), key: created.key }
  },
  async 'GET /accounts/:account_id/keys/:key_id'({ params }, services) {
    return describeKey(await readKey(services, params))
  },
  async 'PATCH /accounts/:account_id/keys/:key_id'({ params, body, note }, services) {
    const stored = await readKey(services, params)
    const { name, models, limits, spend_limit: spendLimit, expires_at: expiresAt } = body
    const change: KeyChange = {
      ...(name === undefined ? {} : { name }),
      ...(models === undefined ? {} : { models }),
      ...(limits === undefined ? {} : { limits }),
      ...(spendLimit === undefined ? {} : { spendLimitNanos: toNanos(spendLimit) }),
      ...(expiresAt === undefined ? {} : { expiresAt: toDate(expiresAt) }),
    }
    note(describeChange(describeKey(stored), body))
    await withOperatorErrors(changeKey(services.sql, stored.id, change))
    return describeKey(await readKey(services, params))
  },
  'POST /accounts/:account_id/keys/:key_id/disable': ({ params }, services) =>
    setDisabled(services, params, true),
  'POST /accounts/:account_id/keys/:key_id/enable': ({ params }, services) =>
    setDisabled(services, params, false),
  async 'POST /accounts/:account_id/keys/:key_id/rotate'({ params, body, note }, services) {
    const { id } = await readKey(services, params)
    const { created } = await withOperatorErrors(rotateKey(services.sql, id, body.overlap_seconds))
    note({ new_key_id: created.id })
    const row = await readKey(services, { ...params, key_id: created.id })
    return { ...describeKey(row), key: created.key }
  },
}
