/** Reads and changes the account, issues playground keys and opens live events. */
import { createPlaygroundKey } from '../../../accounts/playground-key.ts'
import { formatAmount, parseAmount } from '../../../lib/money.ts'
import { describeChange } from '../../describe-change.ts'
import type { HandlersOf } from '../../handler.ts'
import { found } from '../../refusal.ts'
import type { AdminServices } from '../../services.ts'
import { readAccountSettings, updateAccountSettings } from '../account-store.ts'
import type { accountContract } from './contract.ts'

async function describeAccount({ sql }: AdminServices, id: string) {
  const row = found(await readAccountSettings(sql, id), 'account')
  const { low_balance_at: low, created_at: at, ...rest } = row
  return {
    ...rest,
    low_balance_at: low === null ? null : formatAmount(low),
    created_at: at.toISOString(),
  }
}

export const accountHandlers: HandlersOf<typeof accountContract> = {
  'GET /accounts/:account_id': ({ params }, services) =>
    describeAccount(services, params.account_id),
  async 'PATCH /accounts/:account_id'({ params, body, note }, services) {
    const { name, low_balance_at: low } = body
    const before = await describeAccount(services, params.account_id)
    note(describeChange(before, body))
    await updateAccountSettings(services.sql, params.account_id, {
      ...(name === undefined ? {} : { name }),
      ...(low === undefined
        ? {}
        : { lowBalanceAt: low === null ? null : (parseAmount(low) ?? 0n) }),
    })
    return describeAccount(services, params.account_id)
  },
  async 'POST /accounts/:account_id/playground-key'({ params, session, note }, { sql }) {
    const key = await createPlaygroundKey(sql, params.account_id, session.user.id)
    const created = found(key, 'account')
    note({ key_id: created.id })
    return { key: created.key, key_id: created.id, expires_at: created.expires_at.toISOString() }
  },
  async 'GET /accounts/:account_id/events'({ context, params, session }, { live, signIn }) {
    const { account_id: accountId } = params
    const mayStay = async () => {
      const now = await signIn.identifySession(context.request, { quietly: true })
      if (now?.sessionId !== session.sessionId) return false
      return now.user.operator || now.memberships.some((one) => one.accountId === accountId)
    }
    live.connect({ context, accountId, sessionId: session.sessionId, mayStay })
    return undefined
  },
}
