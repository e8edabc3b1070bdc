/** An account as the operator API returns it. */
import type { AdminAnswer } from '../../lib/api.ts'

export type Account = AdminAnswer<'GET /operator/accounts/:account_id'>
