/** Reads and changes the account, issues playground keys and opens live events. */

import { invalidField } from '../../../../base/lib/errors.ts'
import { createPlaygroundKey } from '../../../../money/accounts/playground-key.ts'
import { encode } from '../../../endpoints/codecs.ts'
import { describeChange } from '../../describe-change.ts'
import type { HandlersOf } from '../../handler.ts'
import { found } from '../../refusal.ts'
import type { AdminServices } from '../../services.ts'
import { type accountContract, accountSettings } from './contract.ts'
import { readAccountSettings, updateAccountSettings } from './store.ts'

async function readAccount({ sql }: AdminServices, id: string) {
  return found(await readAccountSettings(sql, id), 'account')
}

export const accountHandlers: HandlersOf<typeof accountContract> = {
  'GET /accounts/:account_id': ({ params }, services) => readAccount(services, params.account_id),
  async 'PATCH /accounts/:account_id'({ params, body, note }, services) {
    const { alert_url: url } = body
    const refusal = url ? await services.guard.checkUrl(url) : undefined
    if (refusal !== undefined) throw invalidField('alert_url', refusal)
    const before = await readAccount(services, params.account_id)
    note(describeChange(encode(accountSettings, before), encode(accountSettings.partial(), body)))
    await updateAccountSettings(services.sql, params.account_id, body)
    return readAccount(services, params.account_id)
  },
  async 'POST /accounts/:account_id/playground-key'({ params, session, note }, { sql }) {
    const key = await createPlaygroundKey(sql, params.account_id, session.user.id)
    const created = found(key, 'account')
    note({ key_id: created.id })
    return { ...created, key_id: created.id }
  },
  async 'GET /accounts/:account_id/events'({ context, params, session }, { live, signIn }) {
    const { account_id: accountId } = params
    const mayStay = async () => {
      const now = await signIn.identifySession(context.request, { quietly: true })
      if (now?.sessionId !== session.sessionId) return false
      return now.user.operator || now.memberships.some((one) => one.accountId === accountId)
    }
    live.connect({ context, accountId, sessionId: session.sessionId, mayStay })
  },
}
