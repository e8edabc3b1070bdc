/** Access tokens, with which scripts use this API: creation, listing, revocation. */
import { z } from 'zod'
import { page, paging, text, time } from '../../common-schemas.ts'
import { area, type Routes } from '../../route.ts'
import { memberRole } from '../schemas.ts'

const shared = { tag: 'Console: access tokens' } as const

const scope = z.enum(['read', 'write']).describe('`read`: read-only requests.')
const sensitive = z
  .boolean()
  .describe('Allows actions for which people must step up: secrets, prices, credits.')

const token = z.object({
  id: z.string(),
  name: z.string(),
  display: z.string().describe('First and last characters; the token is never shown again.'),
  scope,
  sensitive,
  state: z.enum(['active', 'expired', 'revoked']),
  created_at: time,
  expires_at: time.nullable(),
  last_used_at: time.nullable().describe('Accurate to the minute.'),
})

export const tokensContract = area(shared, {
  'GET /me': {
    role: 'user',
    summary: 'Get the current person and the rights of the token in use',
    answer: z.object({
      user: z.object({
        id: z.string(),
        email: z.string(),
        name: z.string(),
        operator: z.boolean(),
      }),
      memberships: z.array(
        z.object({
          account_id: z.string(),
          account_name: z.string(),
          role: memberRole,
        }),
      ),
      token: z
        .object({
          id: z.string(),
          name: z.string(),
          scope,
          sensitive,
          expires_at: time.nullable(),
        })
        .nullable()
        .describe('Null for a session.'),
    }),
  },
  'GET /profile/tokens': {
    role: 'user',
    signInOnly: true,
    summary: 'List your access tokens',
    description: 'The newest 200, including ended ones.',
    answer: z.object({ data: z.array(token) }),
  },
  'POST /profile/tokens': {
    role: 'user',
    signInOnly: true,
    stepUp: true,
    summary: 'Create an access token',
    description:
      'It has the roles that you have now, for as long as you have them, but none that you get ' +
      'later.',
    body: z.strictObject({
      name: text(100).min(1),
      scope: scope.default('read'),
      sensitive: sensitive.default(false),
      expires_at: time.nullable().optional().describe('Absent: in 90 days. Null: never.'),
    }),
    answer: token.extend({ token: z.string().describe('Shown only once.') }),
  },
  'DELETE /profile/tokens/:token_id': {
    role: 'user',
    signInOnly: true,
    summary: 'Revoke one of your access tokens',
    description: 'It stops working at once, everywhere.',
    errors: [404],
  },
  'GET /operator/tokens': {
    role: 'operator',
    signInOnly: true,
    summary: 'List all access tokens',
    query: z.object(paging),
    answer: page(token.extend({ user_id: z.string(), email: z.string() })),
  },
  'DELETE /operator/tokens/:token_id': {
    role: 'operator',
    signInOnly: true,
    summary: 'Revoke any access token',
    errors: [404],
  },
} as const satisfies Routes<keyof typeof shared>)
