import type { AdminAnswer } from '../../lib/api.ts'

export type System = AdminAnswer<'GET /operator/system'>
