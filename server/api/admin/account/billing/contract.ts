/** An account's ledger entries with running balances, and ways to add credit. */

import { z } from 'zod'
import { CREDIT_KINDS } from '../../../../base/lib/kinds-and-states.ts'
import {
  amount,
  count,
  givenTime,
  page,
  paging,
  text,
  time,
  timeZone,
} from '../../common-schemas.ts'
import { area, type Routes } from '../../route.ts'

const shared = { tag: 'Console: money' } as const

const creditKind = z.enum(CREDIT_KINDS)

export const movement = z.object({
  id: z
    .string()
    .describe(
      'A request id, a credit’s id, or `archive_` with an archived month or week (its Monday).',
    ),
  at: time.describe('When the call began or the credit was posted.'),
  kind: z.enum(['charge', ...creditKind.options]),
  amount: amount.describe('Negative for a charge.'),
  balance_after: amount.describe('Available plus held, minus debt.'),
  model: z.string().nullable(),
  endpoint: z.string().nullable(),
  task_id: z.string().nullable(),
  reason: z
    .string()
    .nullable()
    .describe('Reason of a credit, or which archived calls a sum covers.'),
})

export const credit = z.object({
  id: z.string(),
  kind: creditKind,
  amount,
  reason: z.string(),
  created_at: time,
})

const day = z.object({
  at: time.describe('Start of the day.'),
  calls: count,
  charged: amount,
  credited: amount.describe('Credits of every kind; negative adjustments reduce it.'),
  balance_after: amount.describe('Available plus held, minus debt, at the end of the day.'),
})

export const billingContract = area(shared, {
  'GET /accounts/:account_id/statement': {
    role: 'member',
    summary: 'Get an account’s statement',
    description:
      'Charges by day and by model, and each credit. `opening` minus `charged` plus `credited` ' +
      'is `closing`. At most 400 days. Charges are counted in quarters of an hour, by the one ' +
      'in which the call began.',
    query: z.object({
      from: givenTime,
      to: givenTime.optional().describe('Now by default.'),
      time_zone: timeZone,
    }),
    answer: z.object({
      currency: z.string(),
      from: time,
      to: time,
      opening: amount,
      charged: amount,
      credited: amount,
      closing: amount,
      days: z.array(day).describe('Days without a charge or a credit are omitted.'),
      credits: z.array(credit).describe('Newest first.'),
      models: z
        .array(z.object({ model: z.string(), calls: count, charged: amount }))
        .describe('At most a hundred.'),
    }),
  },
  'GET /accounts/:account_id/ledger/export': {
    role: 'member',
    summary: 'Export an account’s transactions as CSV',
    description: 'All of them, newest first, each with the balance after it.',
    answerType: 'text/csv',
  },
  'GET /accounts/:account_id/ledger': {
    role: 'member',
    summary: 'List an account’s transactions',
    description:
      'Newest first: the charge of every finished call, and every credit. Later pages ' +
      'show the books as of the first page.',
    query: z.object(paging),
    answer: page(movement).extend({ currency: z.string() }),
    errors: [400],
  },
  'GET /accounts/:account_id/credits': {
    role: 'member',
    summary: 'List an account’s credits',
    query: z.object(paging),
    answer: page(credit),
  },
  'POST /accounts/:account_id/redeem': {
    role: 'billing',
    summary: 'Redeem a code',
    body: z.strictObject({ code: text(100).min(1) }),
    answer: z.object({
      credit_id: z.string(),
      kind: creditKind,
      amount,
      currency: z.string(),
      available: amount.describe('Now.'),
    }),
  },
  'POST /top-ups': {
    role: 'public',
    isSigned: true,
    summary: 'Post a payment',
    description:
      'For payment providers; 404 unless the operator has set TOP_UP_SECRET. The body is ' +
      'JSON {event_id, account_id, amount, currency, reason?} of at most 64 KB, signed in' +
      ' the header X-Signature: t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<body>">. ' +
      'Each event is credited once.',
    answer: z.object({
      posted: z.boolean().describe('False: this event was credited before.'),
    }),
    errors: [400, 401, 404, 413, 415],
  },
} as const satisfies Routes<keyof typeof shared>)
