/** Operators: revenue, errors and the health of channels over all accounts. */
import { z } from 'zod'
import { amount, time, timeZone } from './common.ts'
import type { Contract } from './route.ts'

const figures = { calls: z.int(), errors: z.int(), revenue: amount }

export const operatorOverviewContract = {
  'GET /operator/overview': {
    role: 'operator',
    tag: 'Operators: overview',
    summary: 'Get revenue, errors and health over all accounts',
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
      models: z.array(z.object({ model: z.string(), currency: z.string(), ...figures })),
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
