/** Lists, creates, changes, rotates and revokes keys. */

import { toPage } from '../../../../base/http/page.ts'
import { mergeLimits } from '../../../../money/accounts/manage-accounts.ts'
import {
  changeKey,
  createKey,
  rotateKey,
  setKeyDisabled,
} from '../../../../money/accounts/manage-keys.ts'
import { encode } from '../../../endpoints/codecs.ts'
import { describeChange } from '../../describe-change.ts'
import type { HandlersOf } from '../../handler.ts'
import { withOperatorErrors } from '../../operator-failure.ts'
import { found } from '../../refusal.ts'
import type { AdminServices } from '../../services.ts'
import { key, type keysContract } from './contract.ts'
import { findUsedKey, listUsedKeys } from './store.ts'

interface KeyParams {
  readonly account_id: string
  readonly key_id: string
}

/** Throws the 404 that foreign, unknown and malformed ids share. */
async function readKey({ sql }: AdminServices, params: KeyParams) {
  return found(await findUsedKey(sql, params.account_id, params.key_id), 'key')
}

async function setDisabled(services: AdminServices, params: KeyParams, disabled: boolean) {
  const { id } = await readKey(services, params)
  await setKeyDisabled(services.sql, id, disabled)
  return readKey(services, params)
}

export const keysHandlers: HandlersOf<typeof keysContract> = {
  async 'GET /accounts/:account_id/keys'({ params, query }, { sql }) {
    const { limit, cursor } = query
    const filter = { accountId: params.account_id, limit: limit + 1, after: cursor }
    return toPage(await listUsedKeys(sql, filter), limit, 'id')
  },
  async 'POST /accounts/:account_id/keys'({ params, body, note, session }, services) {
    const { name, models, limits, spend_limit: spendLimitNanos, expires_at: expiresAt } = body
    const { tags, allow_tags, required_tags, cost_in_answers } = body
    const created = await withOperatorErrors(
      createKey(services.sql, {
        accountId: params.account_id,
        name,
        models,
        limits: mergeLimits({}, limits),
        spendLimitNanos,
        expiresAt,
        allowedIps: body.allowed_ips,
        createdBy: session.user.id,
        labels: { tags, allow_tags, required_tags, cost_in_answers },
      }),
    )
    note({ key_id: created.id })
    return { ...(await readKey(services, { ...params, key_id: created.id })), key: created.key }
  },
  'GET /accounts/:account_id/keys/:key_id': ({ params }, services) => readKey(services, params),
  async 'PATCH /accounts/:account_id/keys/:key_id'({ params, body, note }, services) {
    const stored = await readKey(services, params)
    const { spend_limit: spendLimitNanos, expires_at: expiresAt, ...rest } = body
    note(describeChange(encode(key, stored), encode(key.partial(), body)))
    const { tags, allow_tags, required_tags, cost_in_answers, allowed_ips, ...others } = rest
    const labels = { tags, allow_tags, required_tags, cost_in_answers }
    const change = { ...others, allowedIps: allowed_ips, spendLimitNanos, expiresAt, labels }
    await withOperatorErrors(changeKey(services.sql, stored.id, change))
    return readKey(services, params)
  },
  'POST /accounts/:account_id/keys/:key_id/disable': ({ params }, services) =>
    setDisabled(services, params, true),
  'POST /accounts/:account_id/keys/:key_id/enable': ({ params }, services) =>
    setDisabled(services, params, false),
  async 'POST /accounts/:account_id/keys/:key_id/rotate'({ params, body, note }, services) {
    const { id } = await readKey(services, params)
    const { created } = await withOperatorErrors(rotateKey(services.sql, id, body.overlap_seconds))
    note({ new_key_id: created.id })
    return { ...(await readKey(services, { ...params, key_id: created.id })), key: created.key }
  },
}
