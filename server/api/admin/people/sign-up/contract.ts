/** Signing up without an invitation, and what operators see of it. */
import { z } from 'zod'
import { amount, page, paging, text, time } from '../../common-schemas.ts'
import { area, type Routes } from '../../route.ts'
import { email, language, newPassword, outcome, personName } from '../schemas.ts'

const shared = { tag: 'Console: sign-up' } as const

const token = text(100).describe('From the link’s fragment, `#token=…`.')

const signUp = z.object({
  id: z.string(),
  person_id: z.string().nullable(),
  account_id: z.string(),
  email: z.string(),
  network: z.string().describe('The address, or the /64 of IPv6, from which it came.'),
  provider_id: z
    .string()
    .nullable()
    .describe('The provider that confirmed the address; null: confirmed by mail.'),
  terms: z.string().nullable().describe('The terms that were accepted.'),
  granted: amount,
  currency: z.string(),
  state: z.enum(['active', 'stopped']),
  created_at: time,
})

export const signUpContract = area(shared, {
  'POST /session/sign-up': {
    role: 'public',
    signInOnly: true,
    summary: 'Ask for a link that confirms an address',
    description: 'The answer is the same whether or not the address already belongs to a user.',
    body: z.object({ email, language: language.default('en') }),
    errors: [403, 404, 429],
  },
  'POST /session/sign-up/view': {
    role: 'public',
    signInOnly: true,
    summary: 'Read a link that confirms an address',
    body: z.object({ token }),
    answer: z.object({
      email: z.string(),
      known: z.boolean().describe('True if the address already belongs to a user.'),
      expires_at: time,
    }),
    errors: [403, 404, 429],
  },
  'POST /session/sign-up/finish': {
    role: 'public',
    signInOnly: true,
    summary: 'Sign up with a confirmed address',
    description: 'Opens an account for the person and signs them in.',
    body: z.object({
      token,
      name: personName,
      language: language.default('en'),
      password: newPassword,
      accept_terms: z.boolean().default(false).describe('Required where terms are set.'),
    }),
    answer: outcome,
    errors: [403, 404, 409, 429],
  },
  'GET /operator/sign-ups': {
    role: 'operator',
    summary: 'List sign-ups, newest first',
    query: z.object({
      ...paging,
      search: text(200).optional().describe('Part of the address or of the account’s id.'),
      network: text(64).min(1).optional(),
    }),
    answer: page(signUp),
  },
  'POST /operator/sign-ups/stop': {
    role: 'operator',
    summary: 'Stop a sign-up, or all sign-ups from a network',
    description:
      'Locks the people out, ends their sessions, keys and tokens, and suspends their ' +
      'accounts. Their network gets no grant for 30 days. `PATCH /operator/users` and `resume` ' +
      'undo it one by one.',
    body: z.union([
      z.strictObject({ id: text(100).min(1) }),
      z.strictObject({ network: text(64).min(1) }),
    ]),
    answer: z.object({ stopped: z.int() }),
    errors: [404],
  },
} as const satisfies Routes<keyof typeof shared>)
