/** The admin API's table of contents: one contract an area. */
import { accountContract } from './account.ts'
import { balanceContract } from './balance.ts'
import { billingContract } from './billing.ts'
import { keysContract } from './keys.ts'
import { libraryContract } from './library.ts'
import { membersContract } from './members.ts'
import { modelsContract } from './models.ts'
import { operatorAccountsContract } from './operator-accounts.ts'
import { operatorAuditLogContract } from './operator-audit-log.ts'
import { operatorChannelsContract } from './operator-channels.ts'
import { operatorCodesContract } from './operator-codes.ts'
import { operatorModelsContract } from './operator-models.ts'
import { operatorOverviewContract } from './operator-overview.ts'
import { operatorProofContract } from './operator-proof.ts'
import { operatorSystemContract } from './operator-system.ts'
import { operatorWorkContract } from './operator-work.ts'
import { overviewContract } from './overview.ts'
import { profileContract } from './profile.ts'
import { quoteContract } from './quote.ts'
import type { AnswerOf, BodyOf, Params, QueryOf } from './route.ts'
import { signInContract } from './sign-in.ts'
import { tasksContract } from './tasks.ts'
import { tokensContract } from './tokens.ts'
import { usageContract } from './usage.ts'
import { webhooksContract } from './webhooks.ts'

export const ADMIN_CONTRACT = {
  ...signInContract,
  ...profileContract,
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
  ...webhooksContract,
  ...operatorOverviewContract,
  ...operatorAccountsContract,
  ...operatorCodesContract,
  ...operatorChannelsContract,
  ...operatorModelsContract,
  ...operatorWorkContract,
  ...operatorProofContract,
  ...operatorSystemContract,
  ...operatorAuditLogContract,
}

export type AdminApi = typeof ADMIN_CONTRACT
export type AdminKey = keyof AdminApi

/** What the console sends to a route: `undefined` members may be left out. */
export interface AdminRequest<Key extends AdminKey> {
  readonly params: Params<Key>
  readonly query: QueryOf<AdminApi[Key]>
  readonly body: BodyOf<AdminApi[Key]>
}

/** What it gets. */
export type AdminAnswer<Key extends AdminKey> = AnswerOf<AdminApi[Key]>
