/** Lists alerts, with amounts as decimals. */
import { toPage } from '../../../../base/http/page.ts'
import { invalidField } from '../../../../base/lib/errors.ts'
import { describeSubject } from '../../../../work/alerts/subject.ts'
import type { HandlersOf } from '../../handler.ts'
import type { ReadQuery } from '../../route.ts'
import type { AdminServices } from '../../services.ts'
import type { alertsContract } from './contract.ts'
import { selectAlerts } from './store.ts'

type Query = ReadQuery<(typeof alertsContract)['GET /operator/alerts']>

async function listAlerts({ sql }: AdminServices, query: Query, accountId?: string) {
  if (query.cursor !== undefined && !/^\d{1,18}$/.test(query.cursor)) {
    throw invalidField('cursor', 'not a cursor of this list')
  }
  const rows = await selectAlerts(sql, query, accountId)
  const described = rows.map((row) => ({
    ...row,
    members: describeSubject(row.members, row.currency),
  }))
  return toPage(described, query.limit, 'id')
}

export const alertsHandlers: HandlersOf<typeof alertsContract> = {
  async 'GET /accounts/:account_id/alerts'({ params, query }, services) {
    return await listAlerts(services, query, params.account_id)
  },
  async 'GET /operator/alerts'({ query }, services) {
    return await listAlerts(services, query)
  },
}
