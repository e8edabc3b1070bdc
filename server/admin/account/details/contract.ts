/** An account itself, the short-lived key of its playground, and news of what changes in it. */
import { z } from 'zod'
import { amount, decimal, text, time } from '../../common-schemas.ts'
import type { Contract } from '../../route.ts'

const TAG = 'Console: account'

const account = z.object({
  id: z.string(),
  name: z.string(),
  status: z.enum(['active', 'suspended']),
  currency: z.string(),
  limits: z
    .record(z.string(), z.number())
    .describe('Set by the operator; an absent member means no limit.'),
  low_balance_at: amount.nullable().describe('Below it the console warns; null: three days.'),
  created_at: time,
})

export const accountContract = {
  'GET /accounts/:account_id': {
    role: 'member',
    tag: TAG,
    summary: 'Get an account',
    answer: account,
  },
  'PATCH /accounts/:account_id': {
    role: 'owner',
    tag: TAG,
    summary: 'Change an account',
    description: 'Members that are left out stay as they are.',
    body: z.strictObject({ name: text(200).min(1), low_balance_at: decimal.nullable() }).partial(),
    answer: account,
  },
  'POST /accounts/:account_id/playground-key': {
    role: 'member',
    tag: TAG,
    summary: 'Get a key for the playground',
    description:
      'It lives for an hour, spends the account’s balance and is not in the list of keys. Of ' +
      'more than five at once the one that would end first ends now.',
    answer: z.object({ key: z.string(), key_id: z.string(), expires_at: time }),
  },
  'GET /accounts/:account_id/events': {
    role: 'member',
    tag: TAG,
    summary: 'Hear what changes',
    description:
      'Server-sent events `balance` {available, held, debt}, `usage` {calls}, `tasks` {open} and ' +
      '`deliveries` {pending}: what they say is the figure now, or the number since the last. A ' +
      'comment comes every 15 seconds. At most six streams a session.',
    answerType: 'text/event-stream',
    errors: [429],
  },
} as const satisfies Contract
