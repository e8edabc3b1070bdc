/** Operators: revenue, cost, errors and the health of channels over all accounts. */
import { z } from 'zod'
import { amount, time, timeZone } from '../../common-schemas.ts'
import type { Contract } from '../../route.ts'

const share = z.number().nullable()

const figures = {
  calls: z.int(),
  errors: z.int(),
  revenue: amount,
  upstream_cost: amount.describe('What upstreams take, as far as it is known.'),
  uncosted: amount.describe('The part of the revenue whose cost is not known.'),
  uncosted_share: share.describe('Of the revenue, from 0 to 1.'),
  margin: amount
    .nullable()
    .describe('Of the revenue whose cost is known; null where no cost is known.'),
  margin_share: share.describe('Of the revenue whose cost is known; below 0: a loss.'),
}

export const operatorOverviewContract = {
  'GET /operator/overview': {
    role: 'operator',
    tag: 'Operators: overview',
    summary: 'Get revenue, cost, margin, errors and health over all accounts',
    description: 'By the hours in which calls began; buckets without a call are left out.',
    query: z.object({
      from: z.coerce.date().optional().describe('24 hours ago when absent.'),
      to: z.coerce.date().optional().describe('Now when absent.'),
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
          orphaned: amount.describe(
            'The most that upstreams can have billed for work that nobody was charged for.',
          ),
          orphans: z.int(),
          orphans_uncosted: z.int().describe('Of the orphans, those of unknown cost.'),
          written_off: amount.describe('Debts forgiven in the period.'),
          available: amount.describe('Of all accounts, now.'),
          held: amount,
          debt: amount,
        }),
      ),
      series: z.array(z.object({ at: time, currency: z.string(), ...figures })),
      accounts: z
        .array(
          z.object({ account_id: z.string(), name: z.string(), currency: z.string(), ...figures }),
        )
        .describe('The ten that were charged most.'),
      models: z
        .array(z.object({ model: z.string(), currency: z.string(), ...figures }))
        .describe('The fifty that were charged most.'),
      by_channel: z
        .array(z.object({ channel: z.string(), currency: z.string(), ...figures }))
        .describe('By the channel that was tried last.'),
      channels: z.object({
        ready: z.int(),
        resting: z.array(z.object({ channel: z.string(), seconds: z.int() })),
        unusable: z.array(z.object({ channel: z.string(), reason: z.string() })),
      }),
      open_tasks: z.int(),
      active_accounts: z.int().describe('With a call in the period.'),
    }),
  },
} as const satisfies Contract
