/** The admin API's table of contents: one contract per area. */

import { alertsContract } from './account/alerts/contract.ts'
import { balanceContract } from './account/balance/contract.ts'
import { billingContract } from './account/billing/contract.ts'
import { budgetsContract } from './account/budgets/contract.ts'
import { accountContract } from './account/details/contract.ts'
import { keysContract } from './account/keys/contract.ts'
import { libraryContract } from './account/library/contract.ts'
import { modelsContract } from './account/models/contract.ts'
import { overviewContract } from './account/overview/contract.ts'
import { quoteContract } from './account/quote/contract.ts'
import { tasksContract } from './account/tasks/contract.ts'
import { usageContract } from './account/usage/contract.ts'
import { webhooksContract } from './account/webhooks/contract.ts'
import { operatorAccountsContract } from './operator/accounts/contract.ts'
import { operatorAuditLogContract } from './operator/audit-log/contract.ts'
import { operatorChannelsContract } from './operator/channels/contract.ts'
import { operatorCodesContract } from './operator/codes/contract.ts'
import { operatorModelsContract } from './operator/models/contract.ts'
import { operatorOverviewContract } from './operator/overview/contract.ts'
import { operatorPriceListsContract } from './operator/price-lists/contract.ts'
import { operatorProofContract } from './operator/proof/contract.ts'
import { operatorSubjectsContract } from './operator/subjects/contract.ts'
import { operatorSystemContract } from './operator/system/contract.ts'
import { operatorVendorsContract } from './operator/vendors/contract.ts'
import { operatorWorkContract } from './operator/work/contract.ts'
import { membersContract } from './people/members/contract.ts'
import { profileContract } from './people/profile/contract.ts'
import { providersContract } from './people/providers/contract.ts'
import { signInContract } from './people/sign-in/contract.ts'
import { signUpContract } from './people/sign-up/contract.ts'
import { tokensContract } from './people/tokens/contract.ts'
import type { AnswerOf, BodyOf, Params, QueryOf } from './route.ts'

export const ADMIN_CONTRACT = {
  ...signInContract,
  ...profileContract,
  ...providersContract,
  ...signUpContract,
  ...tokensContract,
  ...membersContract,
  ...accountContract,
  ...balanceContract,
  ...overviewContract,
  ...keysContract,
  ...usageContract,
  ...tasksContract,
  ...libraryContract,
  ...modelsContract,
  ...quoteContract,
  ...billingContract,
  ...budgetsContract,
  ...alertsContract,
  ...webhooksContract,
  ...operatorOverviewContract,
  ...operatorAccountsContract,
  ...operatorCodesContract,
  ...operatorChannelsContract,
  ...operatorVendorsContract,
  ...operatorModelsContract,
  ...operatorPriceListsContract,
  ...operatorWorkContract,
  ...operatorProofContract,
  ...operatorSubjectsContract,
  ...operatorSystemContract,
  ...operatorAuditLogContract,
}

export type AdminApi = typeof ADMIN_CONTRACT
export type AdminKey = keyof AdminApi

/** The input of a route as the console sends it; `undefined` members may be omitted. */
export interface AdminRequest<Key extends AdminKey> {
  readonly params: Params<Key>
  readonly query: QueryOf<AdminApi[Key]>
  readonly body: BodyOf<AdminApi[Key]>
}

/** The answer of a route as the console receives it. */
export type AdminAnswer<Key extends AdminKey> = AnswerOf<AdminApi[Key]>
