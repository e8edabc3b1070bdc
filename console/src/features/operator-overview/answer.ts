/** The answer of the admin API that operators' overview shows. */
import type { AdminAnswer } from '../../lib/api.ts'

export const OVERVIEW_ROUTE = 'GET /operator/overview'

export type OperatorOverview = AdminAnswer<typeof OVERVIEW_ROUTE>
