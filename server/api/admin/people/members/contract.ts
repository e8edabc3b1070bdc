/** Members of an account, all people who can sign in, and invitations. */
import { z } from 'zod'
import { page, paging, text, time } from '../../common-schemas.ts'
import { area, type Routes } from '../../route.ts'
import { email, language, memberRole, newMemberRole } from '../schemas.ts'

const shared = { tag: 'Console: people' } as const

const link = z.object({
  link: z.string().describe('Shown once; pass it on. It works once.'),
  expires_at: time,
})
const invited = link.extend({
  mailed: z.boolean().describe('True if the link was mailed to the address as well.'),
})
const invitation = z.object({
  id: z.string(),
  email: z.string(),
  role: memberRole.nullable(),
  operator: z.boolean(),
  created_by: z.string(),
  created_at: time,
  expires_at: time,
})
const member = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role: memberRole,
  second_factor: z.boolean(),
  disabled: z.boolean(),
  created_at: time,
})
const user = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  language,
  operator: z.boolean(),
  disabled: z.boolean(),
  second_factor: z.boolean(),
  created_at: time,
})

export const membersContract = area(shared, {
  'GET /accounts/:account_id/members': {
    role: 'member',
    summary: 'List the members of an account',
    answer: z.object({ data: z.array(member) }),
  },
  'PATCH /accounts/:account_id/members/:user_id': {
    role: 'owner',
    signInOnly: true,
    summary: 'Change a member’s role',
    description: 'Keys of a person who becomes `billing` or `viewer` end.',
    stepUp: true,
    body: z.object({ role: newMemberRole }),
    errors: [409],
  },
  'DELETE /accounts/:account_id/members/:user_id': {
    role: 'owner',
    signInOnly: true,
    summary: 'Remove a member from an account',
    description:
      'Ends the keys that belong to the person, their playground key, sessions and invitations.',
    stepUp: true,
    errors: [409],
  },
  'GET /accounts/:account_id/invitations': {
    role: 'owner',
    summary: 'List open invitations to an account',
    answer: z.object({ data: z.array(invitation) }),
  },
  'POST /accounts/:account_id/invitations': {
    role: 'owner',
    signInOnly: true,
    summary: 'Invite someone to an account',
    description:
      'The link is valid for three days, and ends earlier ones of the same address. It is ' +
      'mailed where SMTP_URL is set.',
    stepUp: true,
    body: z.object({ email, role: newMemberRole }),
    answer: invited,
    errors: [429],
  },
  'DELETE /accounts/:account_id/invitations/:invitation_id': {
    role: 'owner',
    signInOnly: true,
    summary: 'Withdraw an invitation to an account',
  },
  'GET /operator/users': {
    role: 'operator',
    summary: 'List all users',
    query: z.object({
      ...paging,
      search: text(200).optional().describe('Part of the name, of the address or of the id.'),
    }),
    answer: page(user),
  },
  'PATCH /operator/users/:user_id': {
    role: 'operator',
    signInOnly: true,
    summary: 'Lock or unlock a user',
    description: 'Operators can only be locked from the command line.',
    stepUp: true,
    body: z.object({ disabled: z.boolean() }),
    errors: [403, 404],
  },
  'POST /operator/users/:user_id/reset': {
    role: 'operator',
    signInOnly: true,
    summary: 'Create a password reset link',
    description: 'Valid for half an hour. Links for operators need the command line.',
    stepUp: true,
    answer: link,
    errors: [403, 404],
  },
  'GET /operator/invitations': {
    role: 'operator',
    summary: 'List open operator invitations',
    answer: z.object({ data: z.array(invitation) }),
  },
  'POST /operator/invitations': {
    role: 'operator',
    signInOnly: true,
    summary: 'Invite an operator',
    description: 'The link ends earlier ones for the same address.',
    stepUp: true,
    body: z.object({ email }),
    answer: invited,
  },
  'DELETE /operator/invitations/:invitation_id': {
    role: 'operator',
    signInOnly: true,
    summary: 'Withdraw an operator invitation',
  },
} as const satisfies Routes<keyof typeof shared>)
