/** Every handler of the admin API, area by area, in the order of the contract. */
import type { ADMIN_CONTRACT } from '../contract/index.ts'
import type { HandlersOf } from '../handler.ts'
import { accountHandlers } from './account.ts'
import { balanceHandlers } from './balance.ts'
import { billingHandlers } from './billing.ts'
import { keysHandlers } from './keys.ts'
import { libraryHandlers } from './library.ts'
import { membersHandlers } from './members.ts'
import { modelsHandlers } from './models.ts'
import { operatorAccountsHandlers } from './operator-accounts.ts'
import { operatorAuditLogHandlers } from './operator-audit-log.ts'
import { operatorChannelsHandlers } from './operator-channels.ts'
import { operatorCodesHandlers } from './operator-codes.ts'
import { operatorModelsHandlers } from './operator-models.ts'
import { operatorOverviewHandlers } from './operator-overview.ts'
import { operatorProofHandlers } from './operator-proof.ts'
import { operatorSystemHandlers } from './operator-system.ts'
import { operatorWorkHandlers } from './operator-work.ts'
import { overviewHandlers } from './overview.ts'
import { profileHandlers } from './profile.ts'
import { quoteHandlers } from './quote.ts'
import { signInHandlers } from './sign-in.ts'
import { tasksHandlers } from './tasks.ts'
import { tokensHandlers } from './tokens.ts'
import { usageHandlers } from './usage.ts'
import { webhooksHandlers } from './webhooks.ts'

export const ADMIN_HANDLERS: HandlersOf<typeof ADMIN_CONTRACT> = {
  ...signInHandlers,
  ...profileHandlers,
  ...tokensHandlers,
  ...membersHandlers,
  ...accountHandlers,
  ...balanceHandlers,
  ...overviewHandlers,
  ...keysHandlers,
  ...usageHandlers,
  ...tasksHandlers,
  ...libraryHandlers,
  ...modelsHandlers,
  ...quoteHandlers,
  ...billingHandlers,
  ...webhooksHandlers,
  ...operatorOverviewHandlers,
  ...operatorAccountsHandlers,
  ...operatorCodesHandlers,
  ...operatorChannelsHandlers,
  ...operatorModelsHandlers,
  ...operatorWorkHandlers,
  ...operatorProofHandlers,
  ...operatorSystemHandlers,
  ...operatorAuditLogHandlers,
}
