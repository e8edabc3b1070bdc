/** Signing in with OpenID Connect: the flow, people's links, and the operators' providers. */
import { z } from 'zod'
import { text, time } from '../../common-schemas.ts'
import { area, type Routes } from '../../route.ts'

const shared = { tag: 'Console: sign-in providers' } as const

const location = z.object({ location: z.string().describe('Where the browser goes next.') })
const provider = text(100).min(1).describe('Id of a provider.')
const returnTo = z
  .string()
  .max(2000)
  .regex(/^\/(?![/\\])[\w\-./?=&%~+*'(),:;@!$]*$/, 'must be a path of the console')
  .describe('Path of the console to return to.')
const claims = z.record(z.string(), z.unknown())
const rules = z
  .array(z.record(z.string(), z.unknown()))
  .max(200)
  .describe(
    'Rules that give roles by claims: at every sign-in, the first rule that matches decides.',
  )

const identity = z.object({
  provider: z.string(),
  name: z.string(),
  email: z.string().describe('As the provider stated it when it was linked; may be empty.'),
  created_at: time,
  used_at: time.nullable(),
})

const details = z.object({
  id: z.string(),
  name: z.string(),
  issuer: z.string(),
  client_id: z.string(),
  has_secret: z.boolean(),
  scopes: z.string(),
  rules,
  trusts_email: z.boolean(),
  disabled: z.boolean(),
  from_environment: z.boolean().describe('Set by OIDC_… variables, and changed only there.'),
  problem: z.string().nullable().describe('Why it cannot be used now; null if it can.'),
})

const draft = z.strictObject({
  name: text(100).min(1),
  issuer: text(2048).min(1).describe('As the provider’s discovery document writes it.'),
  client_id: text(500).min(1),
  client_secret: text(2000).min(1).nullable().exactOptional().describe('Stored encrypted.'),
  scopes: text(500).min(1),
  rules,
  trusts_email: z
    .boolean()
    .describe('Whether addresses count as verified when the provider does not say so.'),
  disabled: z.boolean(),
})

export const providersContract = area(shared, {
  'GET /sign-in/oidc': {
    role: 'public',
    summary: 'List the providers that people can sign in with',
    answer: z.object({ data: z.array(z.object({ id: z.string(), name: z.string() })) }),
  },
  'GET /sign-in/oidc/callback': {
    role: 'public',
    summary: 'Come back from a provider',
    description: 'Redirects to the console (303); a refusal is a page.',
    answerType: 'text/html',
    errors: [400, 401, 403, 404, 409, 503],
  },
  'GET /sign-in/oidc/:provider': {
    role: 'public',
    summary: 'Sign in with a provider',
    description: 'Redirects to its page (303).',
    query: z.object({
      return_to: returnTo.default('/'),
      accept_terms: z.stringbool().default(false).describe('The terms of signing up.'),
    }),
    answerType: 'text/html',
    errors: [404, 429],
  },
  'POST /session/invitation/oidc': {
    role: 'public',
    signInOnly: true,
    summary: 'Start accepting an invitation with a provider',
    body: z.object({ token: text(100), provider }),
    answer: location,
    errors: [404, 429],
  },
  'POST /session/step-up/oidc': {
    role: 'user',
    signInOnly: true,
    summary: 'Start a step-up with a provider',
    body: z.object({ provider, return_to: returnTo.default('/') }),
    answer: location,
    errors: [404],
  },
  'POST /session/end': {
    role: 'user',
    signInOnly: true,
    summary: 'Sign out, at the provider too',
    answer: z.object({
      location: z.string().nullable().describe('Where the session ends at its provider.'),
    }),
  },
  'GET /profile/identities': {
    role: 'user',
    signInOnly: true,
    summary: 'List one’s own identities at providers',
    answer: z.object({ data: z.array(identity) }),
  },
  'POST /profile/identities': {
    role: 'user',
    signInOnly: true,
    summary: 'Start linking an identity at a provider',
    stepUp: true,
    body: z.object({ provider }),
    answer: location,
    errors: [404],
  },
  'DELETE /profile/identities/:provider': {
    role: 'user',
    signInOnly: true,
    summary: 'Unlink one’s identities at a provider',
    stepUp: true,
    errors: [404, 409],
  },
  'GET /operator/sign-in-providers': {
    role: 'operator',
    signInOnly: true,
    summary: 'List the sign-in providers',
    answer: z.object({
      data: z.array(details),
      callback_url: z.string().describe('The redirect address to register at each provider.'),
      signed_out_url: z.string().describe('The address after signing out, to register there.'),
    }),
  },
  'POST /operator/sign-in-providers': {
    role: 'operator',
    signInOnly: true,
    summary: 'Add a sign-in provider',
    stepUp: true,
    body: draft.extend({
      scopes: draft.shape.scopes.default('openid email profile'),
      rules: rules.default([]),
      trusts_email: draft.shape.trusts_email.default(false),
      disabled: draft.shape.disabled.default(false),
    }),
    answer: details,
  },
  'PATCH /operator/sign-in-providers/:provider': {
    role: 'operator',
    signInOnly: true,
    summary: 'Change a sign-in provider',
    description: 'Omitted members are unchanged.',
    stepUp: true,
    body: draft.partial(),
    answer: details,
    errors: [404],
  },
  'DELETE /operator/sign-in-providers/:provider': {
    role: 'operator',
    signInOnly: true,
    summary: 'Remove a sign-in provider',
    description: 'Ends the sessions that it opened.',
    stepUp: true,
    errors: [404],
  },
  'POST /operator/sign-in-providers/discover': {
    role: 'operator',
    signInOnly: true,
    isRead: true,
    summary: 'Test the discovery of an issuer',
    body: z.object({ issuer: draft.shape.issuer }),
    answer: z.object({
      problem: z.string().nullable().describe('What is wrong; null: people can sign in there.'),
      authorization_endpoint: z.string().nullable(),
      scopes: z.array(z.string()),
      algorithms: z.array(z.string()),
      ends_sessions: z.boolean().describe('Signing out ends the session there too.'),
    }),
  },
  'POST /operator/sign-in-providers/try': {
    role: 'operator',
    signInOnly: true,
    isRead: true,
    summary: 'Try rules on claims',
    body: z.object({ rules, claims }),
    answer: z.object({
      operator: z.boolean(),
      accounts: z.array(z.string()),
      role: z.string().nullable().describe('In each of the accounts; null without any.'),
    }),
  },
} as const satisfies Routes<keyof typeof shared>)
