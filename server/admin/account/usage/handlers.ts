/** Consumption: usage records, figures, and the CSV export. */
import { catchUp } from '../../../endpoints/account/usage.ts'
import { describeUsage, explainUsage } from '../../../endpoints/account/usage-schemas.ts'
import type { UsageFilter, UsageSummary } from '../../../usage/store.ts'
import type { HandlersOf } from '../../handler.ts'
import { toPage } from '../../page.ts'
import { noSuch } from '../../refusal.ts'
import type { AdminServices } from '../../services.ts'
import type { usageContract } from './contract.ts'
import { type Cell, sendCsv } from './csv.ts'
import { readUsageFilter } from './usage-filter.ts'
import { summariseUsage } from './usage-summary.ts'

const BATCH = 1000

const COLUMNS = [
  ...([
    'request_id',
    'created_at',
    'finished_at',
    'endpoint',
    'model',
    'key_id',
    'status',
  ] as const),
  ...(['held', 'charged', 'returned', 'debt', 'currency', 'basis', 'review', 'task_id'] as const),
  'error' as const,
]

function toCells(row: UsageSummary): Cell[] {
  const shown = describeUsage(row)
  return COLUMNS.map((name) => shown[name] ?? null)
}

async function* readBatches(
  { usage }: AdminServices,
  filter: Omit<UsageFilter, 'limit'>,
): AsyncGenerator<readonly (readonly Cell[])[]> {
  yield [COLUMNS]
  let after: string | undefined
  do {
    const rows = await usage.list({ ...filter, limit: BATCH, ...(after ? { after } : {}) })
    yield rows.map(toCells)
    after = rows.length === BATCH ? rows.at(-1)?.request_id : undefined
  } while (after !== undefined)
}

export const usageHandlers: HandlersOf<typeof usageContract> = {
  async 'GET /accounts/:account_id/usage'({ params, query }, services) {
    const { limit, cursor } = query
    const filter = readUsageFilter(params.account_id, query)
    await catchUp(services)
    const pageFilter = { ...filter, limit: limit + 1, ...(cursor ? { after: cursor } : {}) }
    const rows = await services.usage.list(pageFilter)
    return toPage(rows, limit, (row) => row.request_id, describeUsage)
  },
  async 'GET /accounts/:account_id/usage/summary'({ params, query }, services) {
    await catchUp(services)
    return summariseUsage(services.sql, params.account_id, query)
  },
  async 'GET /accounts/:account_id/usage/export'({ context, params, query }, services) {
    await catchUp(services)
    const filter = readUsageFilter(params.account_id, query)
    await sendCsv(context, `usage-${params.account_id}`, readBatches(services, filter))
    return undefined
  },
  async 'GET /accounts/:account_id/usage/:request_id'({ params }, services) {
    await catchUp(services)
    const row = await services.usage.find(params.account_id, params.request_id)
    if (!row) throw noSuch('request')
    return explainUsage(row, await services.usage.entries(row.hold_id))
  },
}
