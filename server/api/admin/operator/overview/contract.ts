/** Operators: revenue, upstream cost, errors and channel health over all accounts. */
import { z } from 'zod'
import { amount, count, givenTime, time, timeZone } from '../../common-schemas.ts'
import type { Contract } from '../../route.ts'

const share = z.number().nullable()

const figures = {
  calls: count,
  errors: count,
  revenue: amount,
  upstream_cost: amount.describe('Upstream cost, as far as known.'),
  uncosted: amount.describe('Revenue with unknown upstream cost.'),
  uncosted_share: share.describe('As a share of revenue, from 0 to 1.'),
  margin: amount
    .nullable()
    .describe('Margin on revenue with known cost; null if no cost is known.'),
  margin_share: share.describe('As a share of revenue with known cost; below 0: a loss.'),
}

export const operatorOverviewContract = {
  'GET /operator/overview': {
    role: 'operator',
    tag: 'Operators: overview',
    summary: 'Get revenue, cost, margin, errors and health over all accounts',
    description: 'Grouped by the hour in which calls began; empty buckets are omitted.',
    query: z.object({
      from: givenTime.optional().describe('24 hours ago by default.'),
      to: givenTime.optional().describe('Now by default.'),
      step: z.enum(['hour', 'day']).default('hour'),
      time_zone: timeZone,
    }),
    answer: z.object({
      from: time,
      to: time,
      step: z.enum(['hour', 'day']),
      currencies: z.array(
        z.object({
          currency: z.string(),
          ...figures,
          uncharged: amount.describe(
            'Upper bound of upstream costs that no customer was charged for.',
          ),
          uncharged_count: z.int(),
          uncharged_unknown: z.int().describe('Number of these whose cost is unknown.'),
          written_off: amount.describe('Debts forgiven in the period.'),
          available: amount.describe('Current total of all accounts.'),
          held: amount,
          debt: amount,
        }),
      ),
      series: z.array(z.object({ at: time, currency: z.string(), ...figures })),
      accounts: z
        .array(
          z.object({ account_id: z.string(), name: z.string(), currency: z.string(), ...figures }),
        )
        .describe('The ten with the highest charges.'),
      models: z
        .array(z.object({ model: z.string(), currency: z.string(), ...figures }))
        .describe('The fifty with the highest charges.'),
      by_channel: z
        .array(z.object({ channel: z.string(), currency: z.string(), ...figures }))
        .describe('Grouped by the last channel tried.'),
      channels: z.object({
        working: z.int().describe('The last call succeeded.'),
        untried: z.int().describe('No call in the last 31 days.'),
        failing: z.array(z.object({ channel: z.string(), since: time, reason: z.string() })),
        cooling_down: z.array(
          z.object({ channel: z.string(), seconds: z.int(), reason: z.string() }),
        ),
        unusable: z.array(z.object({ channel: z.string(), reason: z.string() })),
      }),
      open_tasks: z.int(),
      active_accounts: z.int().describe('Accounts with a call in the period.'),
    }),
  },
} as const satisfies Contract
