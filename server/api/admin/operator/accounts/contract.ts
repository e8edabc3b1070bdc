/** Operators: accounts, their limits, and credits and debits with a reason. */

import { z } from 'zod'
import { CURRENCY_PROBLEM, isCurrency } from '../../../../base/lib/currencies.ts'
import { CREDIT_KINDS, eachLimit } from '../../../../base/lib/kinds-and-states.ts'
import { amount, page, paging, text, time } from '../../common-schemas.ts'
import { area, type Routes } from '../../route.ts'

const limits = z.object(eachLimit(z.int().min(1).optional()))

const limitsChange = z.strictObject(
  eachLimit(z.int().min(1).nullish().describe('null removes the limit.')),
)

export const operatorAccount = z.object({
  id: z.string(),
  name: z.string(),
  status: z.enum(['active', 'suspended']),
  currency: z.string(),
  available: amount,
  held: amount,
  debt: amount,
  limits,
  price_list: z.string().nullable().describe('The list that it pays by; null: base prices.'),
  allowed_ips: z
    .array(z.string())
    .describe('Networks from which its keys may be used; empty: from everywhere.'),
  keys: z.number(),
  created_at: time,
})

export const operatorCredit = z.object({
  id: z.string(),
  kind: z.enum(CREDIT_KINDS),
  amount,
  reason: z.string(),
  actor: z.string(),
  event_id: z.string().nullable(),
  created_at: time,
})

const shared = { role: 'operator', tag: 'Operators: accounts' } as const

export const operatorAccountsContract = area(shared, {
  'GET /operator/accounts': {
    summary: 'List accounts with their balances',
    query: z.object({
      ...paging,
      search: text(200).optional().describe('Part of the name or of the id.'),
      status: z.enum(['active', 'suspended']).optional(),
      in_debt: z.stringbool().optional(),
    }),
    answer: page(operatorAccount),
  },
  'POST /operator/accounts': {
    summary: 'Create an account',
    body: z.strictObject({
      name: text(200).min(1),
      currency: z.string().refine(isCurrency, CURRENCY_PROBLEM).default('CNY'),
      balance: z.string().optional().describe('An opening balance, posted as a top-up.'),
      limits: limitsChange.optional(),
      price_list: text(64).min(1).optional(),
    }),
    stepUp: true,
    answer: operatorAccount,
  },
  'GET /operator/accounts/:account_id': {
    summary: 'Get an account',
    answer: operatorAccount,
    errors: [404],
  },
  'PATCH /operator/accounts/:account_id': {
    summary: 'Rename an account or change its limits',
    body: z.strictObject({ name: text(200).min(1).optional(), limits: limitsChange.optional() }),
    answer: operatorAccount,
    errors: [404],
  },
  'POST /operator/accounts/:account_id/suspend': {
    summary: 'Suspend an account',
    description: 'New calls are refused within five seconds. Tasks in progress finish.',
    body: z.strictObject({ reason: text(500).min(1) }),
    answer: operatorAccount,
    errors: [404],
  },
  'POST /operator/accounts/:account_id/resume': {
    summary: 'Resume a suspended account',
    answer: operatorAccount,
    errors: [404],
  },
  'GET /operator/accounts/:account_id/credits': {
    summary: 'List credits and debits',
    query: z.object(paging),
    answer: page(operatorCredit),
    errors: [404],
  },
  'POST /operator/accounts/:account_id/credits': {
    summary: 'Credit or debit an account, or forgive debt',
    description: 'With an `event_id`, an event is posted only once.',
    body: z.strictObject({
      amount: z.string().describe('Decimal; negative only for an adjustment.'),
      kind: z.enum(CREDIT_KINDS).default('top_up'),
      reason: text(500).min(1),
      event_id: text(200).min(1).optional(),
    }),
    stepUp: true,
    answer: z.object({
      posted: z.boolean().describe('False: this event was credited before.'),
      account: operatorAccount,
    }),
    errors: [404],
  },
} as const satisfies Routes<keyof typeof shared>)
