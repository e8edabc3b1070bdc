/** Alerts of an account and of operators, and whether they arrived. */

import { z } from 'zod'
import { ALERT_EVENTS, DELIVERY_STATES } from '../../../../base/lib/kinds-and-states.ts'
import { page, paging, serial, span, text, time } from '../../common-schemas.ts'
import { area, type Routes } from '../../route.ts'

const shared = { tag: 'Console: alerts' } as const

export const alertRow = z.object({
  id: serial,
  event: z.enum(ALERT_EVENTS),
  account_id: z.string().nullable().describe('Null: an alert for operators only.'),
  account_name: z.string().nullable(),
  currency: z.string().nullable(),
  at: time,
  members: z
    .record(z.string(), z.unknown())
    .describe('The members of its webhook, such as `budget_id` and `threshold`.'),
  webhook: z
    .object({ delivery_id: z.string(), status: z.enum(DELIVERY_STATES) })
    .nullable()
    .describe('Null if there was no `alert_url`, or if the delivery has been deleted.'),
  mails: z
    .array(
      z.object({
        email: z.string(),
        status: z.enum(['pending', 'sent', 'failed']),
        attempts: z.int(),
        error: z.string().nullable().describe('Why the last attempt failed.'),
      }),
    )
    .describe('Mails to the current recipients; empty without a mail server.'),
})

const filters = { ...paging, ...span, event: z.enum(ALERT_EVENTS).optional() }

export const alertsContract = area(shared, {
  'GET /accounts/:account_id/alerts': {
    role: 'member',
    summary: 'List the alerts of an account',
    description: 'Newest first; kept for 400 days.',
    query: z.object(filters),
    answer: page(alertRow),
  },
  'GET /operator/alerts': {
    role: 'operator',
    summary: 'List the alerts of all accounts, and those for operators',
    query: z.object({ ...filters, account: text(100).optional().describe('An account id.') }),
    answer: page(alertRow),
  },
} as const satisfies Routes<keyof typeof shared>)
