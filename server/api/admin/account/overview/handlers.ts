/** The overview, assembled from hourly figures and a few small queries. */

import {
  type BucketFigures,
  readLatency,
  readSeries,
} from '../../../../money/usage/figures-store.ts'
import { describeLatency } from '../../../../money/usage/latency.ts'
import { catchUp } from '../../../endpoints/account/usage.ts'
import type { HandlersOf } from '../../handler.ts'
import { found } from '../../refusal.ts'
import { addLatency, addUpBuckets } from '../usage/usage-summary.ts'
import type { overviewContract } from './contract.ts'
import { type OverviewRow, readOverview } from './store.ts'

const DAY_MS = 86_400_000
const RECENT = 8
/** A balance for fewer days than this is low, if the account has no threshold of its own. */
const LOW_DAYS = 3

/** Returns the hours that began between two times, in Unix milliseconds. */
function within(series: readonly BucketFigures[], from: number, to: number): BucketFigures[] {
  return series.filter(({ at }) => at.getTime() >= from && at.getTime() < to)
}

function sumOf(series: readonly BucketFigures[], from: number, to: number) {
  return addUpBuckets(within(series, from, to))
}

function sumSpans(series: readonly BucketFigures[], row: OverviewRow) {
  const now = row.now.getTime()
  const [midnight, yesterday] = [row.midnight.getTime(), row.yesterday.getTime()]
  const back = (days: number) => now - days * DAY_MS
  return {
    today: sumOf(series, midnight, now),
    yesterday_by_now: sumOf(series, yesterday, yesterday + now - midnight),
    last_7_days: sumOf(series, back(7), now),
    previous_7_days: sumOf(series, back(14), back(7)),
    last_30_days: sumOf(series, back(30), now),
    previous_30_days: sumOf(series, back(60), back(30)),
  }
}

function judgeBalance(series: readonly BucketFigures[], row: OverviewRow) {
  const now = row.now.getTime()
  const { charged } = sumOf(series, now - 7 * DAY_MS, now)
  const daysLeft = charged > 0n ? Number((row.available * 70n) / charged) / 10 : null
  const threshold = row.low_balance_at
  const isLow =
    threshold === null ? daysLeft !== null && daysLeft < LOW_DAYS : row.available < threshold
  return {
    is_low: isLow || row.debt > 0n,
    threshold,
    days_left: daysLeft,
  }
}

export const overviewHandlers: HandlersOf<typeof overviewContract> = {
  async 'GET /accounts/:account_id/overview'({ params, query }, services) {
    await catchUp(services, params.account_id)
    const { sql, usage } = services
    const accountId = params.account_id
    const row = found(await readOverview(sql, accountId, query.time_zone), 'account')
    const now = row.now.getTime()
    // Days of zones that lie half hours from UTC begin with an hour of theirs.
    const hours = { step: 'hour', timeZone: query.time_zone } as const
    const since = (days: number) => ({
      accountId,
      from: new Date(now - days * DAY_MS),
      to: row.now,
    })
    const [series, latency, recent] = await Promise.all([
      readSeries(sql, since(60), hours),
      readLatency(sql, since(1), hours),
      usage.list({ accountId, limit: RECENT }),
    ])
    const day = within(series, now - DAY_MS, now)
    return {
      currency: row.currency,
      balance: row,
      low_balance: judgeBalance(series, row),
      spend: sumSpans(series, row),
      last_24_hours: { ...addUpBuckets(day), latency: describeLatency(latency) },
      previous_24_hours: sumOf(series, now - 2 * DAY_MS, now - DAY_MS),
      series: addLatency(day, latency),
      recent_calls: recent,
      tasks: row,
      deliveries: row,
      first_steps: row,
    }
  },
}
