/** GET /v1/usage and /v1/usage/{request_id}: every charge, explained. */
import { z } from 'zod'
import { GatewayError, invalidField } from '../errors.ts'
import type { Context } from '../http/context.ts'
import { sendJson } from '../http/reply.ts'
import { isObject } from '../lib/json.ts'
import { formatAmount } from '../lib/money.ts'
import type { UsageFilter, UsageRow } from '../usage/store.ts'
import type { AccountEndpoint, PlainServices } from './endpoint.ts'

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 500
/** A settlement that is still on its way is waited for no longer than this. */
const FLUSH_MS = 2_000

const record = z.object({
  request_id: z.string().describe('X-Request-Id of the answer.'),
  created_at: z.iso.datetime(),
  finished_at: z.iso.datetime().nullable(),
  endpoint: z.string().describe('For example chat.completions.'),
  model: z.string(),
  key_id: z.string(),
  status: z.enum(['running', 'succeeded', 'failed', 'cancelled', 'lost']),
  held: z.string().describe('Frozen before the call.'),
  charged: z.string().describe('What it cost.'),
  returned: z.string().describe('What was held and not charged.'),
  debt: z.string().describe('What the balance could not cover.'),
  currency: z.string(),
  basis: z.string().nullable().describe('usage, estimate, partial, params, checkpoint or none.'),
  review: z.boolean().describe('The upstream’s figure was absurd; a person looks at it.'),
  task_id: z.string().optional(),
  error: z.string().optional(),
})

const line = z.object({
  unit: z.string(),
  quantity: z.number(),
  unit_price: z.string().describe('Buys `per` units.'),
  per: z.number(),
  amount: z.string().describe('Rounded up once, to nine decimals.'),
})

const explained = record.extend({
  lines: z.array(line),
  price_version: z.string().nullable().describe('The prices that held at the freezing.'),
  attempts: z
    .array(z.looseObject({ channel: z.string(), outcome: z.string() }))
    .describe('Which upstreams were tried, and what came of it.'),
  ledger: z.array(
    z.object({
      step: z.string().describe('hold, charge, return, overrun or debt.'),
      from: z.string(),
      to: z.string(),
      amount: z.string(),
      at: z.iso.datetime(),
    }),
  ),
})

/** What the reference shows: 12 and 8 tokens at 0.15 and 0.60 a million. */
const EXPLAINED = {
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
} satisfies z.input<typeof explained>

function describeRecord(row: UsageRow): z.infer<typeof record> {
  return {
    request_id: row.request_id,
    created_at: row.created_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
    endpoint: row.endpoint,
    model: row.model,
    key_id: row.key_id,
    status: row.status as z.infer<typeof record>['status'],
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

/** The stored lines, their members in the order in which they are read. */
function describeLines(stored: unknown): unknown[] {
  if (!Array.isArray(stored)) return []
  return stored.filter(isObject).map(({ unit, quantity, unit_price: unitPrice, per, amount }) => ({
    unit,
    quantity,
    unit_price: unitPrice,
    per,
    amount,
  }))
}

const REQUEST_ID = /^req_[0-9A-Za-z]{1,64}$/
/** The database refuses text with NUL characters. */
const filterText = z
  .string()
  .max(200)
  .refine((text) => !text.includes('\0'), 'must not hold NUL characters')

const listQuery = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(LIMIT_MAX)
    .default(LIMIT_DEFAULT)
    .describe('Records on a page.'),
  cursor: z
    .string()
    .regex(REQUEST_ID, 'not a cursor of this list')
    .optional()
    .describe('next_cursor of the page before.'),
  from: z.coerce.date().optional().describe('Records created at or after this time.'),
  to: z.coerce.date().optional().describe('Records created before this time.'),
  model: filterText.optional().describe('Only calls to this model.'),
  endpoint: filterText.optional().describe('Only calls of this endpoint.'),
  key: filterText.optional().describe('A key id.'),
})

function readFilter(context: Context, accountId: string): UsageFilter {
  const parsed = listQuery.safeParse(Object.fromEntries(context.query))
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    throw invalidField(String(issue?.path[0] ?? 'query'), issue?.message ?? 'invalid')
  }
  const { limit, cursor, from, to, model, endpoint, key } = parsed.data
  return {
    accountId,
    limit,
    ...(cursor ? { after: cursor } : {}),
    ...(from ? { from } : {}),
    ...(to ? { to } : {}),
    ...(model ? { model } : {}),
    ...(endpoint ? { endpoint } : {}),
    ...(key ? { keyId: key } : {}),
  }
}

/** What this process has answered is in the books before they are read. */
async function catchUp(services: PlainServices): Promise<void> {
  const timer = new Promise((resolve) => setTimeout(resolve, FLUSH_MS).unref())
  await Promise.race([services.ledger.flushed(), timer])
}

export const listUsage: AccountEndpoint = {
  kind: 'account',
  method: 'GET',
  paths: ['/v1/usage'],
  envelope: 'flat',
  documentation: {
    summary: 'List consumption records',
    description: 'Newest first.',
    tag: 'Billing',
    query: listQuery,
    answer: z.object({ data: z.array(record), next_cursor: z.string().nullable() }),
    example: () => ({ path: '/v1/usage?limit=2' }),
    errors: [400, 403, 503],
  },
  async handle(context, caller, services) {
    const filter = readFilter(context, caller.accountId)
    await catchUp(services)
    const rows = await services.usage.list({ ...filter, limit: filter.limit + 1 })
    const page = rows.slice(0, filter.limit)
    const nextCursor = rows.length > filter.limit ? (page.at(-1)?.request_id ?? null) : null
    sendJson(context, 200, { data: page.map(describeRecord), next_cursor: nextCursor })
  },
}

export const getUsage: AccountEndpoint = {
  kind: 'account',
  method: 'GET',
  paths: ['/v1/usage/:request_id'],
  envelope: 'flat',
  documentation: {
    summary: 'Explain one charge',
    description: 'The request id is the X-Request-Id header of the answer.',
    tag: 'Billing',
    answer: explained,
    example: () => ({ path: `/v1/usage/${EXPLAINED.request_id}`, answer: EXPLAINED }),
    errors: [403, 404, 503],
  },
  async handle(context, caller, services) {
    await catchUp(services)
    const id = context.params.request_id ?? ''
    // A malformed id is answered like an unknown one, and so is a foreign one.
    const row = REQUEST_ID.test(id) && (await services.usage.find(caller.accountId, id))
    if (!row) throw new GatewayError('not_found', { message: 'no such request' })
    const entries = await services.usage.entries(row.hold_id)
    sendJson(context, 200, {
      ...describeRecord(row),
      price_version: row.price_version?.toString() ?? null,
      lines: describeLines(row.lines),
      attempts: row.attempts,
      ledger: entries.map(({ step, source, destination, amount, at }) => ({
        step,
        from: source,
        to: destination,
        amount: formatAmount(amount),
        at: at.toISOString(),
      })),
    })
  },
}
