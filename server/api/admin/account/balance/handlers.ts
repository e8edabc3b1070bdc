/** Balances that include every charge this process has already answered. */
import { catchUp } from '../../../endpoints/account/usage.ts'
import type { HandlersOf } from '../../handler.ts'
import { found } from '../../refusal.ts'
import type { balanceContract } from './contract.ts'

export const balanceHandlers: HandlersOf<typeof balanceContract> = {
  async 'GET /accounts/:account_id/balance'({ params }, services) {
    await catchUp(services, params.account_id)
    return found(await services.ledger.balance(params.account_id), 'account')
  },
}
