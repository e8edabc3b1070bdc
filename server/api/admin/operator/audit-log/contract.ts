/** Operators: the audit log. */
import { z } from 'zod'
import { page, paging, serial, span, text, time } from '../../common-schemas.ts'
import { area, type Routes } from '../../route.ts'

const shared = { role: 'operator', tag: 'Operators: system' } as const

const entry = z.object({
  id: serial,
  at: time,
  user_id: z.string().nullable(),
  email: z.string().nullable(),
  token: z
    .object({ id: z.string(), name: z.string(), last4: z.string() })
    .nullable()
    .describe('The access token used.'),
  ip: z.string().nullable(),
  account_id: z.string().nullable(),
  action: z.string(),
  target: z.string(),
  details: z.record(z.string(), z.unknown()),
  names: z
    .record(z.string(), z.string())
    .describe('Today’s names of the accounts, keys, people, tokens and codes it mentions.'),
  currency: z.string().nullable().describe('Of its amounts; null if it has none.'),
})

export const operatorAuditLogContract = area(shared, {
  'GET /operator/audit-log': {
    summary: 'List audit log entries, newest first',
    query: z.object({
      ...paging,
      ...span,
      actor: text(200).optional().describe('A user id or part of the e-mail address.'),
      action: text(200).optional().describe('Part of the action.'),
      account: text(100).optional(),
      target: text(200).optional().describe('What was acted on, for example a model.'),
    }),
    answer: page(entry),
  },
} as const satisfies Routes<keyof typeof shared>)
