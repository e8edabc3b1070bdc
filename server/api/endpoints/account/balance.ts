/** GET /v1/balance: the available, held and owed amounts of an account. */
import { z } from 'zod'
import { sendJson } from '../../../base/http/reply.ts'
import { formatAmount } from '../../../base/lib/money.ts'
import type { AccountEndpoint } from '../endpoint.ts'
import { catchUp } from './usage.ts'

const amount = z.string().describe('Decimal.')

export const getBalance: AccountEndpoint = {
  kind: 'account',
  method: 'GET',
  paths: ['/v1/balance'],
  envelope: 'flat',
  documentation: {
    summary: 'Get the balance',
    description: 'What paid calls can use now, what is on hold, and what is owed.',
    tag: 'Billing',
    answer: z.object({
      currency: z.string(),
      available: amount,
      held: amount.describe('On hold for calls and tasks in progress.'),
      debt: amount.describe('Amount owed; paid calls are refused until it is paid.'),
    }),
    example: () => ({
      answer: { currency: 'CNY', available: '998.7', held: '0.0031', debt: '0' },
    }),
    errors: [403, 503],
  },
  async handle(context, caller, services) {
    await catchUp(services, caller.accountId)
    const row = await services.ledger.balance(caller.accountId)
    sendJson(context, 200, {
      currency: row?.currency ?? caller.currency,
      available: formatAmount(row?.available ?? 0n),
      held: formatAmount(row?.held ?? 0n),
      debt: formatAmount(row?.debt ?? 0n),
    })
  },
}
