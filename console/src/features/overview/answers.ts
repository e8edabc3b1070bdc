import type { AdminAnswer } from '../../lib/api.ts'

export type Summary = AdminAnswer<'GET /accounts/:account_id/usage/summary'>

export type AccountOverview = AdminAnswer<'GET /accounts/:account_id/overview'>
