/** Every handler of the admin API, area by area, in the order of the contract. */

import { alertsHandlers } from './account/alerts/handlers.ts'
import { balanceHandlers } from './account/balance/handlers.ts'
import { billingHandlers } from './account/billing/handlers.ts'
import { budgetsHandlers } from './account/budgets/handlers.ts'
import { accountHandlers } from './account/details/handlers.ts'
import { keysHandlers } from './account/keys/handlers.ts'
import { libraryHandlers } from './account/library/handlers.ts'
import { modelsHandlers } from './account/models/handlers.ts'
import { overviewHandlers } from './account/overview/handlers.ts'
import { quoteHandlers } from './account/quote/handlers.ts'
import { tasksHandlers } from './account/tasks/handlers.ts'
import { usageHandlers } from './account/usage/handlers.ts'
import { webhooksHandlers } from './account/webhooks/handlers.ts'
import type { ADMIN_CONTRACT } from './contract.ts'
import type { AnyHandler, HandlersOf } from './handler.ts'
import { operatorAccountsHandlers } from './operator/accounts/handlers.ts'
import { operatorAuditLogHandlers } from './operator/audit-log/handlers.ts'
import { operatorChannelsChecks, operatorChannelsHandlers } from './operator/channels/handlers.ts'
import { operatorCodesHandlers } from './operator/codes/handlers.ts'
import { operatorModelsChecks, operatorModelsHandlers } from './operator/models/handlers.ts'
import { operatorOverviewHandlers } from './operator/overview/handlers.ts'
import {
  operatorPriceListsChecks,
  operatorPriceListsHandlers,
} from './operator/price-lists/handlers.ts'
import { operatorProofHandlers } from './operator/proof/handlers.ts'
import { operatorSubjectsHandlers } from './operator/subjects/handlers.ts'
import { operatorSystemHandlers } from './operator/system/handlers.ts'
import { operatorVendorsHandlers } from './operator/vendors/handlers.ts'
import { operatorWorkHandlers } from './operator/work/handlers.ts'
import { membersHandlers } from './people/members/handlers.ts'
import { profileHandlers } from './people/profile/handlers.ts'
import { providersHandlers } from './people/providers/handlers.ts'
import { signInHandlers } from './people/sign-in/handlers.ts'
import { signUpHandlers } from './people/sign-up/handlers.ts'
import { tokensHandlers } from './people/tokens/handlers.ts'

export const ADMIN_HANDLERS: HandlersOf<typeof ADMIN_CONTRACT> = {
  ...signInHandlers,
  ...profileHandlers,
  ...providersHandlers,
  ...signUpHandlers,
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
  ...budgetsHandlers,
  ...alertsHandlers,
  ...webhooksHandlers,
  ...operatorOverviewHandlers,
  ...operatorAccountsHandlers,
  ...operatorCodesHandlers,
  ...operatorChannelsHandlers,
  ...operatorVendorsHandlers,
  ...operatorModelsHandlers,
  ...operatorPriceListsHandlers,
  ...operatorWorkHandlers,
  ...operatorProofHandlers,
  ...operatorSubjectsHandlers,
  ...operatorSystemHandlers,
  ...operatorAuditLogHandlers,
}

/** Checks of drafts beyond their schema, before a step-up is asked for. They change nothing. */
export const ADMIN_CHECKS: Readonly<Record<string, AnyHandler>> = {
  ...operatorChannelsChecks,
  ...operatorModelsChecks,
  ...operatorPriceListsChecks,
} as unknown as Readonly<Record<string, AnyHandler>>
