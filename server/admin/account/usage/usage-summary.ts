/** The figures of the usage page, assembled from hourly figures. */
import type { Sql } from 'postgres'
import { invalidField } from '../../../lib/errors.ts'
import { formatAmount } from '../../../lib/money.ts'
import {
  type BucketFigures,
  type FigureFilter,
  type LatencyRow,
  readLatency,
  readSeries,
  readTop,
  type UsageFigures,
} from '../../../usage/figures-store.ts'
import { describeLatency } from '../../../usage/latency.ts'
import { found } from '../../refusal.ts'
import type { ReadQuery } from '../../route.ts'
import { readKeyNames, selectAccountCurrency } from '../account-store.ts'
import type { usageContract } from './contract.ts'

type Query = ReadQuery<(typeof usageContract)['GET /accounts/:account_id/usage/summary']>

const DAY_MS = 86_400_000
const TOP = 10
/** The longest span per bucket size, in days. */
const DAYS_MAX = { hour: 31, day: 400 }

export function describeFigures({ calls, errors, cancelled, charged }: UsageFigures) {
  return {
    calls: Number(calls),
    errors: Number(errors),
    cancelled: Number(cancelled),
    charged: formatAmount(charged),
  }
}

/** Returns buckets of figures with their latency. */
export function describeSeries(series: readonly BucketFigures[], latency: readonly LatencyRow[]) {
  const byTime = Map.groupBy(latency, ({ at }) => at.getTime())
  return series.map((row) => ({
    at: row.at.toISOString(),
    ...describeFigures(row),
    latency: describeLatency(byTime.get(row.at.getTime()) ?? []),
  }))
}

export async function summariseUsage(sql: Sql, accountId: string, query: Query) {
  const { step, time_zone: timeZone, model, endpoint, key } = query
  const currency = found(await selectAccountCurrency(sql, accountId), 'account')
  const to = query.to ?? new Date()
  const from = query.from ?? new Date(to.getTime() - DAY_MS)
  if (to.getTime() - from.getTime() > DAYS_MAX[step] * DAY_MS) {
    throw invalidField('from', `at most ${DAYS_MAX[step]} days by ${step}`)
  }
  const filter: FigureFilter = {
    accountId,
    from,
    to,
    ...(model ? { model } : {}),
    ...(endpoint ? { endpoint } : {}),
    ...(key ? { keyId: key } : {}),
  }
  const by = { step, timeZone }
  const [series, latency, models, keys, endpoints] = await Promise.all([
    readSeries(sql, filter, by),
    readLatency(sql, filter, by),
    readTop(sql, filter, 'model', TOP),
    readTop(sql, filter, 'key', TOP),
    readTop(sql, filter, 'endpoint', TOP),
  ])
  const ids = keys.map(({ name }) => name)
  const names = await readKeyNames(sql, accountId, ids)
  return {
    currency,
    from: from.toISOString(),
    to: to.toISOString(),
    step,
    totals: { ...describeFigures(addUpBuckets(series)), latency: describeLatency(latency) },
    series: describeSeries(series, latency),
    models: models.map((row) => ({ model: row.name, ...describeFigures(row) })),
    keys: keys.map((row) => {
      const { name = '', display = '' } = names.get(row.name) ?? {}
      return { key_id: row.name, name, display, ...describeFigures(row) }
    }),
    endpoints: endpoints.map((row) => ({ endpoint: row.name, ...describeFigures(row) })),
  }
}

export function addUpBuckets(series: readonly BucketFigures[]): UsageFigures {
  const sum = (name: keyof UsageFigures) => series.reduce((total, row) => total + row[name], 0n)
  return {
    calls: sum('calls'),
    errors: sum('errors'),
    cancelled: sum('cancelled'),
    charged: sum('charged'),
  }
}
