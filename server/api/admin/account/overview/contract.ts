/** The first page of an account: balance, activity, and items that need attention. */
import { z } from 'zod'
import { usageRecord } from '../../../endpoints/account/usage-schemas.ts'
import { amount, count, timeZone } from '../../common-schemas.ts'
import type { Contract } from '../../route.ts'
import { bucket, figures, latency } from '../usage/contract.ts'

const spend = z.object({ charged: amount, calls: count })

export const overviewContract = {
  'GET /accounts/:account_id/overview': {
    role: 'member',
    tag: 'Console: overview',
    summary: 'Get the overview of an account',
    query: z.object({ time_zone: timeZone }),
    answer: z.object({
      currency: z.string(),
      balance: z.object({ available: amount, held: amount, debt: amount }),
      low_balance: z.object({
        is_low: z.boolean(),
        threshold: amount.nullable().describe('From the settings; null: three days of spend.'),
        days_left: z.number().nullable().describe('At the rate of the last seven days.'),
      }),
      spend: z.object({
        today: spend.describe('Since midnight in `time_zone`.'),
        yesterday_by_now: spend,
        last_7_days: spend,
        previous_7_days: spend,
        last_30_days: spend,
        previous_30_days: spend,
      }),
      last_24_hours: z.object({ ...figures, latency }),
      previous_24_hours: z.object(figures),
      series: z.array(bucket).describe('The last 24 hours; empty hours are omitted.'),
      recent_calls: z.array(usageRecord),
      tasks: z.object({ queued: z.int(), processing: z.int() }),
      deliveries: z.object({
        pending: z.int(),
        dropped: z.int().describe('Deliveries dropped in the last seven days.'),
      }),
      first_steps: z.object({
        has_credit: z.boolean(),
        has_key: z.boolean(),
        has_call: z.boolean(),
      }),
    }),
  },
} as const satisfies Contract
