/** Signing in and out, and proving it again. Cookies carry the session; no answer ever does. */
import { z } from 'zod'
import { text, time } from '../../common-schemas.ts'
import type { Contract } from '../../route.ts'
import { email, language, newPassword, password, personName, signedPasskey } from '../schemas.ts'

const TAG = 'Console: sign-in'

const factor = z.enum(['totp', 'passkey', 'recovery_code'])
const outcome = z
  .object({
    status: z.enum(['signed_in', 'second_factor']),
    methods: z.array(factor).describe('How to prove the second factor; empty when signed in.'),
  })
  .describe('`second_factor`: the password was right, and one of `methods` is asked for.')

/** `PublicKeyCredentialRequestOptionsJSON`, as browsers parse it. */
const requestOptions = z.object({
  challenge: z.string(),
  rpId: z.string(),
  timeout: z.int().describe('Milliseconds.'),
  userVerification: z.literal('required'),
  allowCredentials: z.array(
    z.object({ type: z.literal('public-key'), id: z.string(), transports: z.array(z.string()) }),
  ),
})

const code = z.object({
  code: text(10).optional().describe('Six digits of the authenticator app.'),
  recovery_code: text(40).optional(),
})
const token = text(100).describe('From the link’s fragment, `#token=…`.')
const steppedUp = z.object({ stepped_up_until: time })

export const signInContract = {
  'GET /session': {
    role: 'user',
    signInOnly: true,
    tag: TAG,
    summary: 'Get who is signed in',
    answer: z.object({
      session_id: z.string(),
      user: z.object({
        id: z.string(),
        email: z.string(),
        name: z.string(),
        language,
        operator: z.boolean(),
      }),
      memberships: z.array(
        z.object({
          account_id: z.string(),
          account_name: z.string(),
          role: z.enum(['owner', 'member']),
        }),
      ),
      stepped_up_until: time.nullable(),
      second_factor: z.object({
        totp: z.boolean(),
        passkeys: z.int(),
        recovery_codes_left: z.int(),
        missing: z
          .boolean()
          .describe('Operators need one before anything that asks for a step-up.'),
      }),
      passkeys_possible: z
        .boolean()
        .describe('False where the console stands at a bare address: browsers want a name.'),
    }),
  },
  'POST /session': {
    role: 'public',
    signInOnly: true,
    tag: TAG,
    summary: 'Sign in with a password',
    body: z.object({ email: text(254).min(3), password }),
    answer: outcome,
    errors: [401, 403, 429],
  },
  'POST /session/second-factor': {
    role: 'public',
    signInOnly: true,
    tag: TAG,
    summary: 'Finish a sign-in with a code',
    body: code,
    answer: outcome,
    errors: [401, 403, 429],
  },
  'POST /session/passkey/options': {
    role: 'public',
    signInOnly: true,
    tag: TAG,
    summary: 'Begin a sign-in with a passkey, or finish one with a passkey as second factor',
    answer: requestOptions,
    errors: [403, 409, 429],
  },
  'POST /session/passkey': {
    role: 'public',
    signInOnly: true,
    tag: TAG,
    summary: 'Sign in with a passkey',
    body: z.object({ credential: signedPasskey }),
    answer: outcome,
    errors: [401, 403, 429],
  },
  'DELETE /session': { role: 'user', signInOnly: true, tag: TAG, summary: 'Sign out' },
  'POST /session/step-up': {
    role: 'user',
    signInOnly: true,
    tag: TAG,
    summary: 'Prove it again, with the password and, if there is one, a code',
    body: code.extend({ password }),
    answer: steppedUp,
    errors: [401, 429],
  },
  'POST /session/step-up/passkey/options': {
    role: 'user',
    signInOnly: true,
    tag: TAG,
    summary: 'Begin to prove it again with a passkey',
    answer: requestOptions,
    errors: [409],
  },
  'POST /session/step-up/passkey': {
    role: 'user',
    signInOnly: true,
    tag: TAG,
    summary: 'Prove it again with a passkey',
    body: z.object({ credential: signedPasskey }),
    answer: steppedUp,
    errors: [401, 429],
  },
  'POST /session/set-up': {
    role: 'public',
    signInOnly: true,
    tag: TAG,
    summary: 'Become the first operator, by the link that is printed at start',
    body: z.object({
      token,
      email,
      name: personName,
      language: language.default('en'),
      password: newPassword,
    }),
    answer: outcome,
    errors: [403, 404, 429],
  },
  'POST /session/invitation/view': {
    role: 'public',
    signInOnly: true,
    tag: TAG,
    summary: 'Read an invitation',
    body: z.object({ token }),
    answer: z.object({
      email: z.string(),
      account_name: z.string().nullable(),
      role: z.enum(['owner', 'member']).nullable(),
      operator: z.boolean(),
      known: z.boolean().describe('Whether this person signs in here already: then as themselves.'),
      expires_at: time,
    }),
    errors: [403, 404, 429],
  },
  'POST /session/invitation': {
    role: 'public',
    signInOnly: true,
    tag: TAG,
    summary: 'Accept an invitation',
    description: 'Whoever is known already signs in first and sends the token alone.',
    body: z.object({
      token,
      name: personName.optional(),
      language: language.default('en'),
      password: newPassword.optional(),
    }),
    answer: outcome,
    errors: [403, 404, 409, 429],
  },
  'POST /session/reset': {
    role: 'public',
    signInOnly: true,
    tag: TAG,
    summary: 'Choose a new password, by an operator’s link',
    description: 'Ends every session of the person. A second factor stays asked for.',
    body: z.object({ token, password: newPassword }),
    errors: [403, 404, 429],
  },
} as const satisfies Contract
