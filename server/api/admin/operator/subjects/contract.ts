/** Operators: the issuers of tokens, and who calls with them. */
import { z } from 'zod'
import { count, page, paging, text, time } from '../../common-schemas.ts'
import { area, type Routes } from '../../route.ts'

const shared = { role: 'operator', tag: 'Operators: tokens of directories' } as const

const issuer = z.object({
  id: z.string(),
  issuer: z.string().describe('The `iss` of its tokens.'),
  audience: z.string(),
  algorithms: z.array(z.string()),
  account: z.string().describe('The account of its tokens, or the claim that names the account.'),
  source: z.string().describe('The catalog file that defines it.'),
  updated_at: time,
})

const gives = z.object({
  issuer: z.string().describe('Its id in the catalog.'),
  account_id: z.string(),
  member: z.string().nullable(),
  tags: z.array(z.string()),
  end_user: z.string().nullable(),
})

const subject = z.object({
  id: z.string().describe('The id of its key, under which calls are recorded.'),
  issuer: z.string(),
  subject: z.string().describe('The `sub` of its tokens.'),
  account_id: z.string(),
  member: z.string().nullable().describe('The address of its member.'),
  state: z.enum(['active', 'disabled']),
  calls: count.describe('Delayed by up to half a minute, like `last_used_at`.'),
  last_used_at: time.nullable(),
  created_at: time,
})

export const operatorSubjectsContract = area(shared, {
  'GET /operator/token-issuers': {
    summary: 'List the issuers whose tokens are accepted',
    description: 'They are part of the catalog: to change them, edit its files and apply them.',
    query: z.object(paging),
    answer: page(issuer),
  },
  'POST /operator/token-issuers/try': {
    summary: 'Try a token out',
    description: 'Says why it would be refused, and what its claims grant. Nothing is stored.',
    isRead: true,
    body: z.object({ token: text(12_288).min(1) }),
    answer: z.object({
      claims: z.record(z.string(), z.unknown()),
      problem: z
        .string()
        .nullable()
        .describe('Why calls with it are refused; null if they are not.'),
      gives: gives.nullable().describe('What its claims grant to calls; null: nothing.'),
      signs_in: z
        .array(
          z.object({
            provider: z.string(),
            operator: z.boolean(),
            accounts: z.array(z.string()).describe('Ids or names.'),
            role: z.string().nullable(),
          }),
        )
        .describe(
          'What the rules of each sign-in provider with this issuer grant for these claims.',
        ),
    }),
  },
  'GET /operator/subjects': {
    summary: 'List the subjects that have called, newest first',
    query: z.object({
      ...paging,
      issuer: text(64).min(1).optional(),
      search: text(200).optional().describe('Part of the subject or of its member’s address.'),
    }),
    answer: page(subject),
  },
  'POST /operator/subjects/:key_id/disable': {
    summary: 'Refuse the tokens of a subject',
    description: 'Within four seconds, on every gateway.',
    answer: subject,
    errors: [404],
  },
  'POST /operator/subjects/:key_id/enable': {
    summary: 'Accept the tokens of a subject again',
    answer: subject,
    errors: [404],
  },
} as const satisfies Routes<keyof typeof shared>)
