/** Signing in and out, and stepping up. The session is only ever in a cookie, never in a body. */
import { z } from 'zod'
import { amount, text, time } from '../../common-schemas.ts'
import { area, type Routes } from '../../route.ts'
import {
  email,
  language,
  memberRole,
  newPassword,
  outcome,
  password,
  personName,
  signedPasskey,
} from '../schemas.ts'

const shared = { tag: 'Console: sign-in', signInOnly: true } as const

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
  code: text(10).optional().describe('The six-digit code of the authenticator app.'),
  recovery_code: text(40).optional(),
})
const token = text(100).describe('From the link’s fragment, `#token=…`.')
const steppedUp = z.object({ stepped_up_until: time })

const session = z.object({
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
      role: memberRole,
    }),
  ),
  stepped_up_until: time.nullable(),
  second_factor: z.object({
    totp: z.boolean(),
    passkeys: z.int(),
    recovery_codes_left: z.int(),
    missing: z.boolean().describe('Operators need one for anything that requires a step-up.'),
  }),
  passkeys_possible: z
    .boolean()
    .describe('False if the console is served from an IP address: passkeys need a host name.'),
})

export const signInContract = area(shared, {
  'GET /session': {
    role: 'user',
    summary: 'Get the current session',
    answer: session,
  },
  'GET /session/start': {
    role: 'public',
    summary: 'Get what a page shows before anybody signs in',
    description: 'Unlike `GET /session`, not an error without a session.',
    answer: z.object({
      demo: z
        .object({
          sign_in: z
            .boolean()
            .describe('True if `POST /session/demo` works from the caller’s address.'),
          account_id: z.string(),
          api_key: z.string().nullable().describe('For the first call; null for other people.'),
        })
        .nullable()
        .describe('Null if this gateway has channels other than the simulators’.'),
      sign_up: z
        .object({
          by_mail: z.boolean().describe('False where no mail is set: by a provider alone.'),
          domains: z.array(z.string()).describe('Whose addresses may sign up; empty: all.'),
          terms: z.string().nullable().describe('Address of the terms to accept.'),
          grant: amount.describe(
            'Credit that a new mailbox gets when it signs up, while the limits allow it.',
          ),
          currency: z.string(),
        })
        .nullable()
        .describe('Null if signing up is off.'),
      session: session.nullable(),
    }),
  },
  'POST /session/demo': {
    role: 'public',
    summary: 'Sign in to the demo',
    description: 'Without a password, from the machine that runs the gateway.',
    answer: outcome,
    errors: [403, 404],
  },
  'POST /session': {
    role: 'public',
    summary: 'Sign in with a password',
    body: z.object({ email: text(254).min(3), password }),
    answer: outcome,
    errors: [401, 403, 429],
  },
  'POST /session/second-factor': {
    role: 'public',
    summary: 'Finish a sign-in with a code',
    body: code,
    answer: outcome,
    errors: [401, 403, 429],
  },
  'POST /session/passkey/options': {
    role: 'public',
    summary: 'Start a passkey sign-in, or use a passkey as second factor',
    answer: requestOptions,
    errors: [403, 409, 429],
  },
  'POST /session/passkey': {
    role: 'public',
    summary: 'Sign in with a passkey',
    body: z.object({ credential: signedPasskey }),
    answer: outcome,
    errors: [401, 403, 429],
  },
  'DELETE /session': { role: 'user', summary: 'Sign out' },
  'POST /session/step-up': {
    role: 'user',
    summary: 'Step up with the password and, if set up, a code',
    body: code.extend({ password }),
    answer: steppedUp,
    errors: [401, 429],
  },
  'POST /session/step-up/passkey/options': {
    role: 'user',
    summary: 'Start a step-up with a passkey',
    answer: requestOptions,
    errors: [409],
  },
  'POST /session/step-up/passkey': {
    role: 'user',
    summary: 'Step up with a passkey',
    body: z.object({ credential: signedPasskey }),
    answer: steppedUp,
    errors: [401, 429],
  },
  'POST /session/set-up': {
    role: 'public',
    summary: 'Create the first operator, with the link printed at start',
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
    summary: 'Read an invitation',
    body: z.object({ token }),
    answer: z.object({
      email: z.string(),
      account_name: z.string().nullable(),
      role: memberRole.nullable(),
      operator: z.boolean(),
      known: z.boolean().describe('True if the person is already a user: they sign in to accept.'),
      expires_at: time,
    }),
    errors: [403, 404, 429],
  },
  'POST /session/invitation': {
    role: 'public',
    summary: 'Accept an invitation',
    description: 'Existing users sign in first and send only the token.',
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
    summary: 'Set a new password with an operator’s link',
    description: 'Ends every session of the person. A second factor is still required.',
    body: z.object({ token, password: newPassword }),
    errors: [403, 404, 429],
  },
} as const satisfies Routes<keyof typeof shared>)
