/** Consumption: usage records, figures, and exports. */

import { toPage } from '../../../../base/http/page.ts'
import { catchUp, nameMissing } from '../../../endpoints/account/usage.ts'
import { explainUsage } from '../../../endpoints/account/usage-schemas.ts'
import type { HandlersOf } from '../../handler.ts'
import { noSuch } from '../../refusal.ts'
import { readKeyNames } from '../account-store.ts'
import type { usageContract } from './contract.ts'
import { sendExport } from './csv.ts'
import { describeCall } from './described-call.ts'
import { readColumns, readExport } from './export-calls.ts'
import { readUsageFilter } from './usage-filter.ts'
import { summariseUsage } from './usage-summary.ts'

export const usageHandlers: HandlersOf<typeof usageContract> = {
  async 'GET /accounts/:account_id/usage'({ params, query }, services) {
    const { limit, cursor } = query
    const filter = await readUsageFilter(services.sql, params.account_id, query)
    await catchUp(services, params.account_id)
    const rows = await services.usage.list({ ...filter, limit: limit + 1, after: cursor })
    const ids = [...new Set(rows.map(({ key_id: id }) => id))]
    const keys = await readKeyNames(services.sql, params.account_id, ids)
    const calls = rows.map((row) => describeCall(row, keys))
    return toPage(calls, limit, 'request_id')
  },
  async 'GET /accounts/:account_id/usage/summary'({ params, query }, services) {
    await catchUp(services, params.account_id)
    return summariseUsage(services.sql, params.account_id, query)
  },
  async 'GET /accounts/:account_id/usage/export'({ context, params, query }, services) {
    await catchUp(services, params.account_id)
    const { format } = query
    const filter = await readUsageFilter(services.sql, params.account_id, query)
    const columns = readColumns(query.columns)
    const batches = readExport(services, { filter, format, columns })
    await sendExport(context, { name: `usage-${params.account_id}`, format, batches })
  },
  async 'GET /accounts/:account_id/usage/:request_id'({ params }, services) {
    await catchUp(services, params.account_id)
    const row = await services.usage.find(params.account_id, params.request_id)
    if (!row) throw noSuch(await nameMissing(services.usage, params.request_id))
    return explainUsage(row, await services.usage.entries(params.account_id, row.hold_id))
  },
}
