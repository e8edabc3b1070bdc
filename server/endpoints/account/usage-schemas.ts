/** The public form of usage records. */
import { z } from 'zod'
import { formatAmount } from '../../lib/money.ts'
import type { UsageEntry, UsageRow, UsageSummary } from '../../usage/store.ts'

export const usageRecord = z.object({
  request_id: z.string().describe('X-Request-Id of the response.'),
  created_at: z.iso.datetime(),
  finished_at: z.iso.datetime().nullable(),
  endpoint: z.string().describe('For example chat.completions.'),
  model: z.string(),
  key_id: z.string(),
  status: z.enum(['running', 'succeeded', 'failed', 'cancelled', 'lost']),
  held: z.string().describe('The hold taken before the call.'),
  charged: z.string().describe('The charge.'),
  returned: z.string().describe('The part of the hold that was not charged.'),
  debt: z.string().describe('The part of the charge that the balance did not cover.'),
  currency: z.string(),
  basis: z.string().nullable().describe('usage, estimate, partial, params, checkpoint or none.'),
  review: z.boolean().describe('The charge differs from the stated usage; an operator reviews it.'),
  task_id: z.string().optional(),
  error: z.string().optional(),
})

export const priceLine = z.object({
  unit: z.string(),
  quantity: z.number(),
  unit_price: z.string().describe('Price of `per` units.'),
  per: z.number(),
  amount: z.string().describe('Rounded up once, to nine decimals.'),
  model: z.string().optional().describe('Vendor’s name of another model that did this part.'),
  role: z.string().optional().describe('Role of that model, for example advisor or fallback.'),
})

const attempt = z.looseObject({ channel: z.string(), outcome: z.string() })
/** The reason is the vendor's word about our account: it is for operators. */
const publicAttempt = attempt.transform(({ reason: _, ...shown }) => shown)

export const explainedUsage = usageRecord.extend({
  lines: z.array(priceLine),
  served_model: z.string().describe('The model whose prices apply: `model`, or a fallback of it.'),
  price_version: z.string().nullable().describe('The prices in force when the hold was taken.'),
  attempts: z.array(attempt).describe('The upstreams tried, with outcomes.'),
  ledger: z.array(
    z.object({
      step: z
        .string()
        .describe(
          'hold, charge, return, overrun or debt; correction, correction_debt or ' +
            'correction_return for a call that was assumed lost and later corrected.',
        ),
      from: z.string(),
      to: z.string(),
      amount: z.string(),
      at: z.iso.datetime(),
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
  basis: 'usage',
  review: false,
  lines: [
    { unit: 'input_token', quantity: 12, unit_price: '0.15', per: 1000000, amount: '0.0000018' },
    { unit: 'output_token', quantity: 8, unit_price: '0.6', per: 1000000, amount: '0.0000048' },
  ],
  served_model: 'a-chat-model',
  price_version: '3',
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

export function describeUsage(row: UsageSummary): z.infer<typeof usageRecord> {
  return {
    request_id: row.request_id,
    created_at: row.created_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
    endpoint: row.endpoint,
    model: row.model,
    key_id: row.key_id,
    status: row.status as z.infer<typeof usageRecord>['status'],
    held: formatAmount(row.held),
    charged: formatAmount(row.charged),
    returned: formatAmount(row.returned),
    debt: formatAmount(row.debt),
    currency: row.currency,
    basis: row.basis,
    review: row.review,
    ...(row.task_id ? { task_id: row.task_id } : {}),
    ...(row.error ? { error: row.error } : {}),
  }
}

/** Drops stored items that do not fit the public schema. */
function readAll<Item extends z.ZodType>(item: Item, stored: unknown): z.output<Item>[] {
  if (!Array.isArray(stored)) return []
  return stored.flatMap((one) => {
    const read = item.safeParse(one)
    return read.success ? [read.data] : []
  })
}

const standIn = z.looseObject({ model: z.string(), price_version: z.string().nullable() })

/** Returns the model that served, by the last attempt, and the version of its prices. */
function readServing({ attempts, model, price_version: version }: UsageRow) {
  const read = standIn.safeParse(Array.isArray(attempts) ? attempts.at(-1) : undefined)
  const { data = { model, price_version: version?.toString() ?? null } } = read
  return { served_model: data.model, price_version: data.price_version }
}

/** Returns the record with its charge lines, attempts and ledger entries. */
export function explainUsage(row: UsageRow, entries: readonly UsageEntry[]) {
  return {
    ...describeUsage(row),
    ...readServing(row),
    lines: readAll(priceLine, row.lines),
    attempts: readAll(publicAttempt, row.attempts),
    ledger: entries.map(({ step, source, destination, amount, at }) => ({
      step,
      from: source,
      to: destination,
      amount: formatAmount(amount),
      at: at.toISOString(),
    })),
  }
}
