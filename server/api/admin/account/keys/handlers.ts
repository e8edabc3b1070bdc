/** Lists, creates, changes, rotates and revokes keys. */

import { toPage } from '../../../../base/http/page.ts'
import { GatewayError } from '../../../../base/lib/errors.ts'
import { mergeLimits } from '../../../../money/accounts/manage-accounts.ts'
import {
  changeKey,
  createKey,
  rotateKey,
  setKeyDisabled,
} from '../../../../money/accounts/manage-keys.ts'
import { encode } from '../../../endpoints/codecs.ts'
import type { Session } from '../../../sign-in/sessions/session.ts'
import { isOwnerOf } from '../../authorise.ts'
import { describeChange } from '../../describe-change.ts'
import type { HandlersOf } from '../../handler.ts'
import { conflict, refuseAs, withOperatorErrors } from '../../operator-failure.ts'
import { found } from '../../refusal.ts'
import type { AdminServices } from '../../services.ts'
import { refuseUnlistedModels } from '../unlisted-models.ts'
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

/** As `readKey`. Throws 403 if the key is not the developer's own. */
async function readOwnKey(services: AdminServices, params: KeyParams, session: Session) {
  const stored = await readKey(services, params)
  if (isOwnerOf(session, params.account_id) || stored.member?.user_id === session.user.id) {
    return stored
  }
  throw new GatewayError('forbidden', {
    message: 'this key is not yours: owners of the account change it',
  })
}

/**
 * Returns the member that a key will belong to. Throws 403 for a developer who names somebody else.
 */
function judgeHolder(
  session: Session,
  accountId: string,
  member: string | null | undefined,
): string | null | undefined {
  if (isOwnerOf(session, accountId)) return member
  if (member === undefined || member === session.user.id) return session.user.id
  throw new GatewayError('forbidden', {
    message: 'keys of developers belong to themselves: ask an owner of the account',
  })
}

export const keysHandlers: HandlersOf<typeof keysContract> = {
  async 'GET /accounts/:account_id/keys'({ params, query }, { sql }) {
    const { limit, cursor, search } = query
    const filter = { accountId: params.account_id, limit: limit + 1, after: cursor, search }
    return toPage(await listUsedKeys(sql, filter), limit, 'id')
  },
  async 'POST /accounts/:account_id/keys'({ params, body, note, session }, services) {
    const { name, models, limits, spend_limit: spendLimitNanos, expires_at: expiresAt } = body
    const { tags, allow_tags, required_tags, cost_in_answers } = body
    const personId = judgeHolder(session, params.account_id, body.member) ?? null
    await refuseUnlistedModels(services.sql, models)
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
        personId,
        labels: { tags, allow_tags, required_tags, cost_in_answers },
      }),
    )
    note({ key_id: created.id })
    return { ...(await readKey(services, { ...params, key_id: created.id })), key: created.key }
  },
  'GET /accounts/:account_id/keys/:key_id': ({ params }, services) => readKey(services, params),
  async 'PATCH /accounts/:account_id/keys/:key_id'({ params, body, note, session }, services) {
    const stored = await readOwnKey(services, params, session)
    const { member, ...content } = body
    await refuseUnlistedModels(services.sql, content.models, stored.models)
    const { spend_limit: spendLimitNanos, expires_at: expiresAt, ...rest } = content
    const change = encode(key.partial(), content)
    note({
      ...describeChange(encode(key, stored), change),
      ...(member === undefined ? {} : { member }),
    })
    const personId =
      member === undefined ? undefined : judgeHolder(session, params.account_id, member)
    const { tags, allow_tags, required_tags, cost_in_answers, allowed_ips, ...others } = rest
    const labels = { tags, allow_tags, required_tags, cost_in_answers }
    const more = { allowedIps: allowed_ips, spendLimitNanos, expiresAt, labels, personId }
    await withOperatorErrors(changeKey(services.sql, stored.id, { ...others, ...more }))
    return readKey(services, params)
  },
  async 'POST /accounts/:account_id/keys/:key_id/disable'({ params, session }, services) {
    const { id } = await readOwnKey(services, params, session)
    await setKeyDisabled(services.sql, id, true)
    return readKey(services, params)
  },
  async 'POST /accounts/:account_id/keys/:key_id/enable'({ params }, services) {
    const { id } = await readKey(services, params)
    await refuseAs(setKeyDisabled(services.sql, id, false), conflict)
    return readKey(services, params)
  },
  async 'POST /accounts/:account_id/keys/:key_id/rotate'(
    { params, body, note, session },
    services,
  ) {
    const { id } = await readOwnKey(services, params, session)
    const { created } = await withOperatorErrors(rotateKey(services.sql, id, body.overlap_seconds))
    note({ new_key_id: created.id })
    return { ...(await readKey(services, { ...params, key_id: created.id })), key: created.key }
  },
}
