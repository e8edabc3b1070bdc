/** Every handler of the admin API, area by area, in the order of the contract. */
import type { ADMIN_CONTRACT } from '../contract/index.ts'
import type { HandlersOf } from '../handler.ts'
import { balanceHandlers } from './balance.ts'
import { keysHandlers } from './keys.ts'
import { operatorAccountsHandlers } from './operator-accounts.ts'
import { operatorChannelsHandlers } from './operator-channels.ts'
import { operatorModelsHandlers } from './operator-models.ts'
import { operatorProofHandlers } from './operator-proof.ts'
import { operatorSystemHandlers } from './operator-system.ts'
import { operatorWorkHandlers } from './operator-work.ts'
import { usageHandlers } from './usage.ts'

export const ADMIN_HANDLERS: HandlersOf<typeof ADMIN_CONTRACT> = {
  ...balanceHandlers,
  ...keysHandlers,
  ...usageHandlers,
  ...operatorAccountsHandlers,
  ...operatorChannelsHandlers,
  ...operatorModelsHandlers,
  ...operatorWorkHandlers,
  ...operatorProofHandlers,
  ...operatorSystemHandlers,
}
