/** The account itself, a short-lived key for its playground, and its stream of live events. */
import { z } from 'zod'
import { webhookUrl } from '../../../endpoints/callback-url.ts'
import { amount, decimal, networks, text, time } from '../../common-schemas.ts'
import { area, type Routes } from '../../route.ts'

const shared = { tag: 'Console: account' } as const

export const accountSettings = z.object({
  id: z.string(),
  name: z.string(),
  status: z.enum(['active', 'suspended']),
  currency: z.string(),
  limits: z
    .record(z.string(), z.number())
    .describe('Set by the operator; an absent member means no limit.'),
  low_balance_at: amount
    .nullable()
    .describe(
      'Below it the console warns and the owners get an alert. Null: the console warns below ' +
        'three days of spend, without an alert.',
    ),
  alert_url: z
    .string()
    .nullable()
    .describe('Receives a signed webhook for each alert; null for none.'),
  allowed_ips: z
    .array(z.string())
    .describe('Networks from which its keys may be used; empty: from everywhere.'),
  created_at: time,
})

export const accountContract = area(shared, {
  'GET /accounts/:account_id': {
    role: 'member',
    summary: 'Get an account',
    answer: accountSettings,
  },
  'PATCH /accounts/:account_id': {
    role: 'owner',
    summary: 'Change an account',
    description: 'Omitted members are unchanged.',
    body: z
      .strictObject({
        name: text(200).min(1),
        low_balance_at: decimal.nullable(),
        alert_url: webhookUrl.nullable(),
        allowed_ips: networks,
      })
      .partial(),
    answer: accountSettings,
  },
  'POST /accounts/:account_id/playground-key': {
    role: 'developer',
    summary: 'Get a key for the playground',
    description:
      'Valid for an hour, paid from the account’s balance, and not listed among the keys. At ' +
      'most five are valid at once: a sixth ends the one that would expire first.',
    answer: z.object({ key: z.string(), key_id: z.string(), expires_at: time }),
  },
  'GET /accounts/:account_id/events': {
    role: 'member',
    summary: 'Stream account changes',
    description:
      'Server-sent events `balance` {available, held, debt}, `usage` {calls}, `tasks` ' +
      '{open} and `deliveries` {pending}. Values are current figures, or counts since the' +
      ' previous event. A comment is sent every 15 seconds. At most six streams per ' +
      'session.',
    answerType: 'text/event-stream',
    errors: [429],
  },
} as const satisfies Routes<keyof typeof shared>)
