/** The figures of the usage page, assembled from hourly figures. */
import type { Sql } from 'postgres'
import { invalidField } from '../../../../base/lib/errors.ts'
import {
  type BucketFigures,
  type FigureFilter,
  type LatencyRow,
  readGroupedSeries,
  readLatency,
  readModelLatency,
  readSeries,
  readTop,
  type SeriesStep,
  type UsageFigures,
} from '../../../../money/usage/figures-store.ts'
import { describeLatency } from '../../../../money/usage/latency.ts'
import { found } from '../../refusal.ts'
import type { ReadQuery } from '../../route.ts'
import { type KeyName, readKeyNames, selectAccountCurrency } from '../account-store.ts'
import type { usageContract } from './contract.ts'
import { readKeyIds } from './usage-filter.ts'

type Query = ReadQuery<(typeof usageContract)['GET /accounts/:account_id/usage/summary']>

const DAY_MS = 86_400_000
const TOP = 10
/** The longest span per bucket size, in days. */
const DAYS_MAX = { hour: 31, day: 400 }

/** Returns buckets of figures with their latency. */
export function addLatency(series: readonly BucketFigures[], latency: readonly LatencyRow[]) {
  const byTime = Map.groupBy(latency, ({ at }) => at.getTime())
  return series.map((row) => {
    return { ...row, latency: describeLatency(byTime.get(row.at.getTime()) ?? []) }
  })
}

export async function summariseUsage(sql: Sql, accountId: string, query: Query) {
  const { step, time_zone: timeZone, model, endpoint } = query
  const keyIds = await readKeyIds(sql, accountId, query)
  const currency = found(await selectAccountCurrency(sql, accountId), 'account')
  const to = query.to ?? new Date()
  const from = query.from ?? new Date(to.getTime() - DAY_MS)
  if (to.getTime() - from.getTime() > DAYS_MAX[step] * DAY_MS) {
    throw invalidField('from', `at most ${DAYS_MAX[step]} days by ${step}`)
  }
  const filter: FigureFilter = { accountId, from, to, model, endpoint, keyIds }
  const by = { step, timeZone }
  const [series, latency, models, keys, endpoints, modelLatency] = await Promise.all([
    readSeries(sql, filter, by),
    readLatency(sql, filter, by),
    readTop(sql, filter, 'model', TOP),
    readTop(sql, filter, 'key', TOP),
    readTop(sql, filter, 'endpoint', TOP),
    readModelLatency(sql, filter),
  ])
  const ids = keys.map(({ name }) => name)
  const names = await readKeyNames(sql, accountId, ids)
  const byModel = Map.groupBy(modelLatency, ({ model: name }) => name)
  const tops = { model: models, key: keys, endpoint: endpoints }
  return {
    currency,
    from,
    to,
    step,
    totals: { ...addUpBuckets(series), latency: describeLatency(latency) },
    series: addLatency(series, latency),
    models: models.map((row) => {
      return { ...row, model: row.name, latency: describeLatency(byModel.get(row.name) ?? []) }
    }),
    keys: keys.map((row) => {
      const { name = '', display = '' } = names.get(row.name) ?? {}
      return { ...row, key_id: row.name, name, display }
    }),
    endpoints: endpoints.map((row) => ({ ...row, endpoint: row.name })),
    groups: query.by
      ? await readGroups(sql, filter, { ...by, part: query.by, top: tops[query.by], keys: names })
      : [],
  }
}

const GROUPS = 6

interface Grouping extends SeriesStep {
  readonly part: 'model' | 'key' | 'endpoint'
  readonly top: readonly { readonly name: string }[]
  readonly keys: ReadonlyMap<string, KeyName>
}

/** Returns the series of the largest groups, and one of all others, where there are any. */
async function readGroups(sql: Sql, filter: FigureFilter, { part, top, keys, ...by }: Grouping) {
  const names = top.slice(0, GROUPS).map(({ name }) => name)
  const rows = await readGroupedSeries(sql, filter, { ...by, part, names })
  const byName = Map.groupBy(rows, ({ name }) => name)
  return [...names, ''].flatMap((name) => {
    const series = byName.get(name)
    if (!series) return []
    const key = part === 'key' ? keys.get(name) : undefined
    return { name, label: key ? key.name || key.display : name, series }
  })
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
