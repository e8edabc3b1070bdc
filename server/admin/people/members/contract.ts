/** Who belongs to an account, who else may sign in, and the links that bring people in. */
import { z } from 'zod'
import { page, paging, time } from '../../common-schemas.ts'
import type { Contract } from '../../route.ts'
import { email, language } from '../schemas.ts'

const TAG = 'Console: people'

const memberRole = z.enum(['owner', 'member'])
const link = z.object({
  link: z.string().describe('Shown once: hand it on. It works once.'),
  expires_at: time,
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

export const membersContract = {
  'GET /accounts/:account_id/members': {
    role: 'member',
    tag: TAG,
    summary: 'List who belongs to an account',
    answer: z.object({ data: z.array(member) }),
  },
  'PATCH /accounts/:account_id/members/:user_id': {
    role: 'owner',
    signInOnly: true,
    tag: TAG,
    summary: 'Change somebody’s role in an account',
    stepUp: true,
    body: z.object({ role: memberRole }),
    errors: [409],
  },
  'DELETE /accounts/:account_id/members/:user_id': {
    role: 'owner',
    signInOnly: true,
    tag: TAG,
    summary: 'Take somebody out of an account',
    stepUp: true,
    errors: [409],
  },
  'GET /accounts/:account_id/invitations': {
    role: 'owner',
    tag: TAG,
    summary: 'List open invitations to an account',
    answer: z.object({ data: z.array(invitation) }),
  },
  'POST /accounts/:account_id/invitations': {
    role: 'owner',
    signInOnly: true,
    tag: TAG,
    summary: 'Invite somebody to an account',
    description: 'There is no mail server: hand the link on yourself within three days.',
    stepUp: true,
    body: z.object({ email, role: memberRole }),
    answer: link,
  },
  'DELETE /accounts/:account_id/invitations/:invitation_id': {
    role: 'owner',
    signInOnly: true,
    tag: TAG,
    summary: 'Take back an invitation to an account',
  },
  'GET /operator/users': {
    role: 'operator',
    tag: TAG,
    summary: 'List everybody who may sign in',
    query: z.object(paging),
    answer: page(user),
  },
  'PATCH /operator/users/:user_id': {
    role: 'operator',
    signInOnly: true,
    tag: TAG,
    summary: 'Lock somebody out, or let them in again',
    description: 'Not for operators: that takes the command line.',
    stepUp: true,
    body: z.object({ disabled: z.boolean() }),
    errors: [403, 404],
  },
  'POST /operator/users/:user_id/reset': {
    role: 'operator',
    signInOnly: true,
    tag: TAG,
    summary: 'Make a link for a new password',
    description: 'Good for half an hour. Not for operators: that takes the command line.',
    stepUp: true,
    answer: link,
    errors: [403, 404],
  },
  'GET /operator/invitations': {
    role: 'operator',
    tag: TAG,
    summary: 'List open invitations of operators',
    answer: z.object({ data: z.array(invitation) }),
  },
  'POST /operator/invitations': {
    role: 'operator',
    signInOnly: true,
    tag: TAG,
    summary: 'Invite an operator',
    stepUp: true,
    body: z.object({ email }),
    answer: link,
  },
  'DELETE /operator/invitations/:invitation_id': {
    role: 'operator',
    signInOnly: true,
    tag: TAG,
    summary: 'Take back an invitation of an operator',
  },
} as const satisfies Contract
