/** The API keys of an account. A key's text is returned once, at its creation. */
import { z } from 'zod'
import { TAGS_MAX } from '../../../../base/lib/call-labels.ts'
import { amount, count, decimal, networks, page, paging, text, time } from '../../common-schemas.ts'
import { area, type Routes } from '../../route.ts'

const shared = { tag: 'Console: API keys' } as const
const DAY_SECONDS = 86_400
const OVERLAP_SECONDS_MAX = 30 * DAY_SECONDS
const MODELS_MAX = 200
const PER_MINUTE_MAX = 10_000_000
const TOKENS_MAX = 1_000_000_000_000
const AT_ONCE_MAX = 1_000_000

const limits = z.strictObject({
  requests_per_minute: z.int().min(1).max(PER_MINUTE_MAX).nullable().exactOptional(),
  tokens_per_minute: z.int().min(1).max(TOKENS_MAX).nullable().exactOptional(),
  concurrent_calls: z.int().min(1).max(AT_ONCE_MAX).nullable().exactOptional(),
})

export const key = z.object({
  id: z.string(),
  name: z.string(),
  display: z.string().describe('First and last characters; the key itself is never shown again.'),
  state: z.enum(['active', 'disabled', 'expired']),
  models: z.array(z.string()).nullable().describe('Null: every model.'),
  limits: z.object(limits.shape),
  spend_limit: amount.nullable(),
  spent: amount.describe(
    'Spent by finished calls. With a spend limit it is exact, and includes the keys ' +
      'that this key was rotated from and to, which share the limit.',
  ),
  held: amount.nullable().describe('On hold for calls in progress; known only with a spend limit.'),
  calls: count.describe('Delayed by up to half a minute, like `last_used_at` and `spent`.'),
  last_used_at: time.nullable(),
  expires_at: time.nullable(),
  replaced_by: z.string().nullable().describe('The key that replaced it by rotation.'),
  created_at: time,
  created_by: z
    .object({ user_id: z.string(), name: z.string() })
    .nullable()
    .describe('The member to whom its usage is counted: its creator, or the member it belongs to.'),
  member: z
    .object({ user_id: z.string(), email: z.string(), name: z.string() })
    .nullable()
    .describe(
      'The member it belongs to: it ends with the membership. Null: the account’s own key.',
    ),
  tags: z.array(z.string()).describe('Tags of every call of the key.'),
  allow_tags: z.boolean().describe('Callers may add tags of their own.'),
  required_tags: z
    .array(z.string())
    .describe('Tags that each call must state: `team` or `team:…`.'),
  allowed_ips: z
    .array(z.string())
    .describe('Networks from which it may be used; empty: from everywhere.'),
  cost_in_answers: z.boolean().describe('Response bodies state the charge as `usage.cost`.'),
})

const created = key.extend({ key: z.string().describe('Shown only once.') })

const tags = z.array(text(100)).max(TAGS_MAX)

const member = z
  .string()
  .max(100)
  .nullable()
  .describe(
    'The id of the member it will belong to. Null: the account’s own key, which only owners ' +
      'can create. A developer’s keys always belong to that developer.',
  )

const content = {
  name: text(200),
  models: z.array(text(200).min(1)).max(MODELS_MAX).nullable(),
  limits,
  spend_limit: decimal.nullable(),
  expires_at: time.nullable(),
  tags,
  allow_tags: z.boolean(),
  required_tags: tags,
  cost_in_answers: z.boolean(),
  allowed_ips: networks,
}

const OWN = 'Developers: their own keys.'

export const keysContract = area(shared, {
  'GET /accounts/:account_id/keys': {
    role: 'member',
    summary: 'List the keys of an account',
    query: z.object({
      ...paging,
      search: text(200)
        .optional()
        .describe('Part of the name, of the id, or of the characters that are shown of the key.'),
    }),
    answer: page(key),
  },
  'POST /accounts/:account_id/keys': {
    role: 'developer',
    summary: 'Create a key',
    body: z.strictObject({
      name: content.name.default(''),
      models: content.models.default(null),
      limits: content.limits.default({}),
      spend_limit: content.spend_limit.prefault(null),
      expires_at: content.expires_at.prefault(null),
      tags: content.tags.default([]),
      allow_tags: content.allow_tags.default(false),
      required_tags: content.required_tags.default([]),
      cost_in_answers: content.cost_in_answers.default(false),
      allowed_ips: content.allowed_ips.default([]),
      member: member.optional(),
    }),
    answer: created,
  },
  'GET /accounts/:account_id/keys/:key_id': {
    role: 'member',
    summary: 'Get a key',
    answer: key,
  },
  'PATCH /accounts/:account_id/keys/:key_id': {
    role: 'developer',
    summary: 'Change a key',
    description: `Omitted members are unchanged; null removes a limit. ${OWN}`,
    body: z.strictObject({ ...content, member }).partial(),
    answer: key,
  },
  'POST /accounts/:account_id/keys/:key_id/disable': {
    role: 'developer',
    summary: 'Disable a key',
    description: `It is refused within five seconds. ${OWN}`,
    answer: key,
  },
  'POST /accounts/:account_id/keys/:key_id/enable': {
    role: 'owner',
    summary: 'Enable a key',
    answer: key,
    errors: [409],
  },
  'POST /accounts/:account_id/keys/:key_id/rotate': {
    role: 'developer',
    summary: 'Replace a key',
    description:
      'The old key keeps working for the overlap. Both share one spend limit and its ' +
      `spending. ${OWN}`,
    body: z.strictObject({
      overlap_seconds: z.int().min(0).max(OVERLAP_SECONDS_MAX).default(DAY_SECONDS),
    }),
    answer: created,
    errors: [400],
  },
} as const satisfies Routes<keyof typeof shared>)
