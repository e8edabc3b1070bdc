/** The figures of the usage page, assembled from hourly figures. */
import type { Sql } from 'postgres'
import { invalidField } from '../../../../base/lib/errors.ts'
import {
  type BucketFigures,
  type GroupedBucket,
  type GroupedFigures,
  type LatencyRow,
  readGroupedSeries,
  readLatency,
  readModelLatency,
  readSeries,
  readTop,
  type SeriesStep,
  type UsageFigures,
} from '../../../../money/usage/figures-store.ts'
import {
  countCalls,
  isOfEndUsers,
  type LabelFilter,
  readLabelled,
  readNarrowed,
  readNarrowedSeries,
  readTopTags,
  type Tops,
} from '../../../../money/usage/label-figures-store.ts'
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
  const { step, time_zone: timeZone, model, endpoint, tag, end_user: endUser } = query
  const keyIds = await readKeyIds(sql, accountId, query)
  const currency = found(await selectAccountCurrency(sql, accountId), 'account')
  const to = query.to ?? new Date()
  const from = query.from ?? new Date(to.getTime() - DAY_MS)
  if (to.getTime() - from.getTime() > DAYS_MAX[step] * DAY_MS) {
    throw invalidField('from', `at most ${DAYS_MAX[step]} days by ${step}`)
  }
  const filter: LabelFilter = { accountId, from, to, model, endpoint, keyIds, tag, endUser }
  await refuseTooMany(sql, filter, query.by)
  const by = { step, timeZone }
  const { series, tops, latency, modelLatency } = await readFigures(sql, filter, by)
  const ids = tops.key.map(({ name }) => name)
  const names = await readKeyNames(sql, accountId, ids)
  const byModel = Map.groupBy(modelLatency, ({ model: name }) => name)
  const { groups, labels } = await readBy(sql, filter, { ...by, by: query.by, tops, keys: names })
  return {
    currency,
    from,
    to,
    step,
    totals: { ...addUpBuckets(series), latency: describeLatency(latency) },
    series: addLatency(series, latency),
    models: tops.model.map((row) => {
      return { ...row, model: row.name, latency: describeLatency(byModel.get(row.name) ?? []) }
    }),
    keys: tops.key.map((row) => {
      const { name = '', display = '' } = names.get(row.name) ?? {}
      return { ...row, key_id: row.name, name, display }
    }),
    endpoints: tops.endpoint.map((row) => ({ ...row, endpoint: row.name })),
    groups,
    labels,
  }
}

/** The most calls that figures by end user may read: no hourly figures exist by end user. */
const CALLS_MAX = 500_000

async function refuseTooMany(sql: Sql, filter: LabelFilter, by: Query['by']): Promise<void> {
  if (!isOfEndUsers(filter, by === 'end_user' ? by : undefined)) return
  if ((await countCalls(sql, filter, CALLS_MAX + 1)) <= CALLS_MAX) return
  throw invalidField('from', `more than ${CALLS_MAX} calls to read: choose a shorter period`)
}

/** Durations are not counted by tag and end user. */
async function readFigures(sql: Sql, filter: LabelFilter, by: SeriesStep) {
  if (isNarrowed(filter)) {
    const narrowed = await readNarrowed(sql, filter, { ...by, limit: TOP })
    return { ...narrowed, latency: [], modelLatency: [] }
  }
  const [series, latency, model, key, endpoint, modelLatency] = await Promise.all([
    readSeries(sql, filter, by),
    readLatency(sql, filter, by),
    readTop(sql, filter, 'model', TOP),
    readTop(sql, filter, 'key', TOP),
    readTop(sql, filter, 'endpoint', TOP),
    readModelLatency(sql, filter),
  ])
  return { series, tops: { model, key, endpoint }, latency, modelLatency }
}

const isNarrowed = ({ tag, endUser }: LabelFilter) => Boolean(tag || endUser)

const GROUPS = 6

interface Grouping extends SeriesStep {
  readonly by: Query['by']
  readonly tops: Tops
  readonly keys: ReadonlyMap<string, KeyName>
}

/** Returns the series of the largest groups, and one series for all others if there are any. */
async function readBy(sql: Sql, filter: LabelFilter, { by, tops, keys, ...step }: Grouping) {
  if (by === undefined) return { groups: [], labels: [] }
  if (by === 'tag' || by === 'end_user') {
    const part = by === 'tag' ? 'tags' : by
    const [{ top, series }, tags] = await Promise.all([
      readLabelled(sql, filter, { ...step, part, limit: TOP, shown: GROUPS }),
      by === 'tag' ? readTopTags(sql, filter, TOP) : undefined,
    ])
    return { groups: nameGroups(top, series), labels: tags ?? top }
  }
  const names = tops[by].slice(0, GROUPS).map(({ name }) => name)
  const choice = { ...step, part: by, names }
  const series = isNarrowed(filter)
    ? await readNarrowedSeries(sql, filter, choice)
    : await readGroupedSeries(sql, filter, choice)
  return { groups: nameGroups(tops[by], series, by === 'key' ? keys : undefined), labels: [] }
}

function nameGroups(
  top: readonly GroupedFigures[],
  rows: readonly GroupedBucket[],
  keys?: ReadonlyMap<string, KeyName>,
) {
  const byName = Map.groupBy(rows, ({ name }) => name)
  return [...top.slice(0, GROUPS).map(({ name }) => name), ''].flatMap((name) => {
    const series = byName.get(name)
    if (!series) return []
    const key = keys?.get(name)
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
