/** Revenue, errors and health over all accounts. */
import { formatAmount } from '../../lib/money.ts'
import type { operatorOverviewContract } from '../contract/operator-overview.ts'
import type { HandlersOf } from '../handler.ts'
import type { AdminServices } from '../services.ts'
import {
  countActive,
  readRevenueSeries,
  readTopAccounts,
  readTopModels,
} from '../stores/operator-overview-store.ts'
import { selectTotals } from '../stores/operator-proof-store.ts'

const DAY_MS = 86_400_000

interface Sums {
  readonly calls: bigint
  readonly errors: bigint
  readonly revenue: bigint
}

function show({ calls, errors, revenue }: Sums) {
  return { calls: Number(calls), errors: Number(errors), revenue: formatAmount(revenue) }
}

function addUp(rows: readonly Sums[]): Sums {
  return rows.reduce(
    (all, row) => ({
      calls: all.calls + row.calls,
      errors: all.errors + row.errors,
      revenue: all.revenue + row.revenue,
    }),
    { calls: 0n, errors: 0n, revenue: 0n },
  )
}

function describeChannels({ catalog, health }: AdminServices) {
  const resting = health.resting()
  const { channels, models } = catalog.snapshot()
  const named = [...models.values()].flatMap(({ routes }) => routes.map(({ channel }) => channel))
  const unusable = [...new Set(named)].flatMap((channel) => {
    const reason = catalog.problemOf(channel)
    return reason === undefined ? [] : [{ channel, reason }]
  })
  return {
    ready: channels.size - resting.length,
    resting: resting.map(({ channel, forMs }) => ({ channel, seconds: Math.ceil(forMs / 1000) })),
    unusable,
  }
}

export const operatorOverviewHandlers: HandlersOf<typeof operatorOverviewContract> = {
  async 'GET /operator/overview'({ query }, services) {
    const { sql, ledger } = services
    await ledger.flushed()
    const to = query.to ?? new Date()
    const from = query.from ?? new Date(to.getTime() - DAY_MS)
    const span = { from, to }
    const by = { step: query.step, timeZone: query.time_zone }
    const [series, accounts, models, totals, active] = await Promise.all([
      readRevenueSeries(sql, span, by),
      readTopAccounts(sql, span),
      readTopModels(sql, span),
      selectTotals(sql),
      countActive(sql, span),
    ])
    return {
      ...{ from: from.toISOString(), to: to.toISOString(), step: query.step },
      currencies: totals.map(({ currency, available, held, debt }) => ({
        currency,
        ...show(addUp(series.filter((row) => row.currency === currency))),
        available: formatAmount(available),
        held: formatAmount(held),
        debt: formatAmount(debt),
      })),
      series: series.map((row) => {
        return { at: row.at.toISOString(), currency: row.currency, ...show(row) }
      }),
      accounts: accounts.map((row) => {
        const { account_id: accountId, name, currency } = row
        return { account_id: accountId, name, currency, ...show(row) }
      }),
      models: models.map((row) => ({ model: row.model, currency: row.currency, ...show(row) })),
      channels: describeChannels(services),
      open_tasks: active.tasks,
      active_accounts: active.accounts,
    }
  },
}
