/** The account's available balance, the sum on hold, and its debt. */
import { z } from 'zod'
import { amount } from '../../common-schemas.ts'
import type { Contract } from '../../route.ts'

export const balanceContract = {
  'GET /accounts/:account_id/balance': {
    role: 'member',
    tag: 'Console: money',
    summary: 'Get the balance of an account',
    answer: z.object({
      currency: z.string(),
      available: amount,
      held: amount.describe('On hold for calls and tasks in progress.'),
      debt: amount.describe('Amount owed; paid calls are refused until it is paid.'),
    }),
  },
} as const satisfies Contract
