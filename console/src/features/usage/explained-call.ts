/** One charge with its explanation, as the admin API returns it. */
import type { AdminAnswer } from '../../lib/api.ts'

export const EXPLANATION_ROUTE = 'GET /accounts/:account_id/usage/:request_id'

export type ExplainedCall = AdminAnswer<typeof EXPLANATION_ROUTE>
