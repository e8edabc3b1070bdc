/** Revenue, upstream cost, errors and health over all accounts. */
import {
  type ChannelUse,
  nameFailure,
  stateOfUse,
  type UseState,
} from '../../../../money/usage/channel-use.ts'
import { catchUp } from '../../../endpoints/account/usage.ts'
import type { HandlersOf } from '../../handler.ts'
import type { AdminServices } from '../../services.ts'
import { readUses } from '../channels/channel-uses.ts'
import { selectTotals } from '../proof/store.ts'
import type { operatorOverviewContract } from './contract.ts'
import { addMargin, addUpSums } from './figures.ts'
import {
  countActive,
  readLosses,
  readRevenueSeries,
  readTopAccounts,
  readTopChannels,
  readTopModels,
} from './store.ts'

const DAY_MS = 86_400_000

async function describeChannels(services: AdminServices) {
  const { catalog, health } = services
  const uses = await readUses(services)
  const coolingDown = health.coolingDown()
  const { channels, models } = catalog.snapshot()
  const named = [...models.values()].flatMap(({ routes }) => routes.map(({ channel }) => channel))
  const unusable = [...new Set(named)].flatMap((channel) => {
    const reason = catalog.problemOf(channel)
    return reason === undefined ? [] : [{ channel, reason }]
  })
  const cooling = new Set(coolingDown.map(({ channel }) => channel))
  const others = [...channels.keys()]
    .filter((channel) => !cooling.has(channel))
    .map((channel) => ({ channel, use: uses(channel) }))
  const inState = (state: UseState) => others.filter(({ use }) => stateOfUse(use) === state)
  return {
    working: inState('working').length,
    untried: inState('untried').length,
    failing: inState('failing').map(({ channel, use }) => ({
      channel,
      since: use.failingSince ?? new Date(),
      reason: reasonOf(use),
    })),
    cooling_down: coolingDown.map(({ channel, forMs }) => ({
      channel,
      seconds: Math.ceil(forMs / 1000),
      reason: reasonOf(uses(channel)),
    })),
    unusable,
  }
}

function reasonOf({ failure }: ChannelUse): string {
  return failure ? nameFailure(failure) : 'unknown'
}

const NO_LOSSES = { uncharged: 0n, uncharged_count: 0, uncharged_unknown: 0, written_off: 0n }

export const operatorOverviewHandlers: HandlersOf<typeof operatorOverviewContract> = {
  async 'GET /operator/overview'({ query }, services) {
    const { sql } = services
    await catchUp(services)
    const to = query.to ?? new Date()
    const from = query.from ?? new Date(to.getTime() - DAY_MS)
    const span = { from, to }
    const by = { step: query.step, timeZone: query.time_zone }
    const [series, accounts, models, channels, losses, totals, active, health] = await Promise.all([
      readRevenueSeries(sql, span, by),
      readTopAccounts(sql, span),
      readTopModels(sql, span),
      readTopChannels(sql, span),
      readLosses(sql, span),
      selectTotals(sql),
      countActive(sql, span),
      describeChannels(services),
    ])
    return {
      from,
      to,
      step: query.step,
      currencies: totals.map((total) => ({
        ...addMargin(addUpSums(series.filter((row) => row.currency === total.currency))),
        ...(losses.find((one) => one.currency === total.currency) ?? NO_LOSSES),
        ...total,
      })),
      series: series.map(addMargin),
      accounts: accounts.map(addMargin),
      models: models.map(addMargin),
      by_channel: channels.map(addMargin),
      channels: health,
      open_tasks: active.tasks,
      active_accounts: active.accounts,
    }
  },
}
