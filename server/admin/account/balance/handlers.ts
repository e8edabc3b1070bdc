/** Balances that include every charge this process has already answered. */
import { GatewayError } from '../../../lib/errors.ts'
import { formatAmount } from '../../../lib/money.ts'
import type { HandlersOf } from '../../handler.ts'
import type { balanceContract } from './contract.ts'

export const balanceHandlers: HandlersOf<typeof balanceContract> = {
  async 'GET /accounts/:account_id/balance'({ params }, { ledger }) {
    await ledger.flushed()
    const row = await ledger.balance(params.account_id)
    if (!row) throw new GatewayError('not_found', { message: 'no such account' })
    return {
      currency: row.currency,
      available: formatAmount(row.available),
      held: formatAmount(row.held),
      debt: formatAmount(row.debt),
    }
  },
}
