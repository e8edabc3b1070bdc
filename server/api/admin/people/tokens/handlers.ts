/** Access tokens over HTTP. A token's text is returned once, at its creation. */
import { toPage } from '../../../../base/http/page.ts'
import { selectTokens, type TokenRow } from '../../../sign-in/tokens/access-token-store.ts'
import { createAccessToken, endAccessToken } from '../../../sign-in/tokens/access-tokens.ts'
import type { HandlersOf } from '../../handler.ts'
import { withOperatorErrors } from '../../operator-failure.ts'
import { showMemberships } from '../show-memberships.ts'
import type { tokensContract } from './contract.ts'

const OWN_MAX = 200

export const tokensHandlers: HandlersOf<typeof tokensContract> = {
  async 'GET /me'({ session: { user, memberships, token } }) {
    const { isSensitive: sensitive = false, expiresAt = null } = token ?? {}
    return {
      user,
      memberships: showMemberships(memberships),
      token: token ? { ...token, sensitive, expires_at: expiresAt } : null,
    }
  },
  async 'GET /profile/tokens'({ session }, { sql }) {
    const rows = await selectTokens(sql, { personId: session.user.id, limit: OWN_MAX })
    return { data: rows.map(show) }
  },
  async 'POST /profile/tokens'({ session, body, note }, { sql }) {
    const { name, scope, sensitive: isSensitive, expires_at: expiresAt } = body
    const newToken = {
      personId: session.user.id,
      createdBy: session.user.id,
      name,
      scope,
      isSensitive,
      expiresAt,
    }
    const { token, ...row } = await withOperatorErrors(createAccessToken(sql, newToken))
    note({ token: row.id, name, scope, sensitive: isSensitive })
    return { ...show(row), token }
  },
  'DELETE /profile/tokens/:token_id': ({ session, params }, { sql }) =>
    endAccessToken(sql, params.token_id, session.user.id),
  async 'GET /operator/tokens'({ query: { limit, cursor } }, { sql }) {
    const rows = await selectTokens(sql, { limit: limit + 1, beforeId: cursor })
    return toPage(rows.map(show), limit, 'id')
  },
  'DELETE /operator/tokens/:token_id': ({ params }, { sql }) =>
    endAccessToken(sql, params.token_id),
}

function show(row: TokenRow) {
  const { person_id: user, is_sensitive: sensitive, used_at: usedAt } = row
  return { ...row, user_id: user, sensitive, last_used_at: usedAt }
}
