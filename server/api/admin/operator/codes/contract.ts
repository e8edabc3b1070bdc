/** Operators: redeem codes, each of which credits one account once. */

import { z } from 'zod'
import { CURRENCY_PROBLEM, isCurrency } from '../../../../base/lib/currencies.ts'
import { amount, givenTime, page, paging, text, time } from '../../common-schemas.ts'
import { area, type Routes } from '../../route.ts'

const shared = { role: 'operator', tag: 'Operators: redeem codes' } as const

const code = z.object({
  id: z.string(),
  display: z.string().describe('Its last characters.'),
  kind: z.enum(['top_up', 'promotion']),
  amount,
  currency: z.string(),
  note: z.string(),
  state: z.enum(['open', 'used', 'expired', 'voided']),
  expires_at: time.nullable(),
  created_by: z.string(),
  created_at: time,
  account_id: z.string().nullable().describe('The account that redeemed it.'),
  used_by: z.string().nullable(),
  used_at: time.nullable(),
})

export const operatorCodesContract = area(shared, {
  'GET /operator/redeem-codes': {
    summary: 'List redeem codes, newest first',
    query: z.object({
      ...paging,
      search: text(200).optional().describe('Part of its end, of the note or of the account’s id.'),
      state: code.shape.state.optional(),
    }),
    answer: page(code),
  },
  'POST /operator/redeem-codes': {
    summary: 'Create a batch of redeem codes',
    description: 'Each code is shown only once.',
    body: z.strictObject({
      count: z.int().min(1).max(1000).default(1),
      amount: z.string(),
      kind: z.enum(['top_up', 'promotion']).default('promotion'),
      currency: z.string().refine(isCurrency, CURRENCY_PROBLEM).default('CNY'),
      note: text(200).default(''),
      expires_at: givenTime.optional(),
    }),
    stepUp: true,
    answer: z.object({ data: z.array(z.object({ id: z.string(), code: z.string() })) }),
  },
  'DELETE /operator/redeem-codes/:code_id': {
    summary: 'Void an unused code',
    stepUp: true,
    errors: [409],
  },
} as const satisfies Routes<keyof typeof shared>)
