/** Balances that include every charge this process has already answered. */
import type { HandlersOf } from '../../handler.ts'
import { found } from '../../refusal.ts'
import type { balanceContract } from './contract.ts'

export const balanceHandlers: HandlersOf<typeof balanceContract> = {
  async 'GET /accounts/:account_id/balance'({ params }, { ledger }) {
    await ledger.flushed()
    return found(await ledger.balance(params.account_id), 'account')
  },
}
