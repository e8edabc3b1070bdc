/** The public form of usage records. */

import { z } from 'zod'
import { ENDED_STATUSES } from '../../../base/lib/kinds-and-states.ts'
import type { UsageEntry, UsageRow } from '../../../money/usage/store.ts'
import { decimalAmount, serial, storedList, time, unlessNull } from '../codecs.ts'

export const usageRecord = z.object({
  request_id: z.string().describe('X-Request-Id of the response.'),
  created_at: time,
  finished_at: time.nullable(),
  endpoint: z.string().describe('For example chat.completions.'),
  model: z.string(),
  key_id: z.string(),
  status: z.enum(['running', ...ENDED_STATUSES]),
  held: decimalAmount.describe('The hold taken before the call.'),
  charged: decimalAmount.describe('The charge.'),
  returned: decimalAmount.describe('The part of the hold that was not charged.'),
  debt: decimalAmount.describe('The part of the charge that the balance did not cover.'),
  currency: z.string(),
  price_list: z.string().nullable().describe('The price list; `base` for the base prices.'),
  price_version: serial
    .nullable()
    .describe('The prices in force when the hold was taken, of the model that served.'),
  list_amount: decimalAmount
    .nullable()
    .describe('What the base prices would have charged; null where they have another currency.'),
  basis: z.string().nullable().describe('usage, estimate, partial, params, checkpoint or none.'),
  review: z.boolean().describe('The charge differs from the stated usage; an operator reviews it.'),
  task_id: unlessNull(z.string()),
  error: unlessNull(z.string()),
  tags: z.array(z.string()).describe('Tags of the key, and those that the caller added.'),
  end_user: z.string().nullable().describe('The end user that the request named.'),
})

export const priceLine = z.object({
  unit: z.string(),
  quantity: z.number(),
  unit_price: z.string().describe('Price of `per` units.'),
  per: z.number(),
  amount: z.string().describe('Rounded up once, to nine decimals.'),
  model: z.string().optional().describe('Vendor’s name of another model that did this part.'),
  role: z.string().optional().describe('Role of that model, for example advisor or fallback.'),
  list_amount: z
    .string()
    .optional()
    .describe('The same line at the base prices, if a price list applies.'),
})

const attempt = z.looseObject({ channel: z.string(), outcome: z.string() })
/** The reason is what the vendor said about our account, which is only for operators. */
const publicAttempt = attempt.transform(({ reason: _, ...shown }) => shown)

export const explainedUsage = usageRecord.extend({
  lines: storedList(priceLine),
  served_model: z.string().describe('The model whose prices apply: `model`, or a fallback of it.'),
  attempts: storedList(attempt, publicAttempt).describe('The upstreams tried, with outcomes.'),
  ledger: z.array(
    z.object({
      step: z
        .string()
        .describe(
          'hold, charge, return, overrun or debt; repay, where what came back pays a debt of ' +
            'other calls; correction, correction_debt or correction_return for a call that was ' +
            'assumed lost and later corrected.',
        ),
      from: z.string(),
      to: z.string(),
      amount: decimalAmount,
      at: time,
    }),
  ),
})

/** The example of the reference: 12 and 8 tokens at 0.15 and 0.60 per million. */
export const EXPLAINED_EXAMPLE = {
  request_id: 'req_5YxqZ0b3nD8vKc1TfWmA9h',
  created_at: '2026-11-21T09:30:00.000Z',
  finished_at: '2026-11-21T09:30:01.240Z',
  endpoint: 'chat.completions',
  model: 'a-chat-model',
  key_id: 'key_2ZkQx7RtYb1NwC4vJs8LpD',
  status: 'succeeded',
  held: '0.0024621',
  charged: '0.0000066',
  returned: '0.0024555',
  debt: '0',
  currency: 'CNY',
  price_list: 'base',
  price_version: '3',
  list_amount: '0.0000066',
  basis: 'usage',
  review: false,
  tags: ['team:blue'],
  end_user: 'u1',
  lines: [
    { unit: 'input_token', quantity: 12, unit_price: '0.15', per: 1000000, amount: '0.0000018' },
    { unit: 'output_token', quantity: 8, unit_price: '0.6', per: 1000000, amount: '0.0000048' },
  ],
  served_model: 'a-chat-model',
  attempts: [{ channel: 'main', outcome: 'answered', status: 200, milliseconds: 1198 }],
  ledger: [
    {
      step: 'hold',
      from: 'available',
      to: 'held',
      amount: '0.0024621',
      at: '2026-11-21T09:30:00.002Z',
    },
    {
      step: 'charge',
      from: 'held',
      to: 'revenue',
      amount: '0.0000066',
      at: '2026-11-21T09:30:01.240Z',
    },
    {
      step: 'return',
      from: 'held',
      to: 'available',
      amount: '0.0024555',
      at: '2026-11-21T09:30:01.240Z',
    },
  ],
} satisfies z.input<typeof explainedUsage>

const standIn = z.looseObject({ model: z.string() })

/** Returns the record with the model that served, by the last attempt, and its ledger entries. */
export function explainUsage(row: UsageRow, entries: readonly UsageEntry[]) {
  const ledger = entries.map(({ source: from, destination: to, ...rest }) => ({
    ...rest,
    from,
    to,
  }))
  const read = standIn.safeParse(Array.isArray(row.attempts) ? row.attempts.at(-1) : undefined)
  return { ...row, served_model: read.data?.model ?? row.model, ledger }
}
