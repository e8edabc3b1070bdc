/** People's own sign-in: name, password, sessions, second factors. */
import { z } from 'zod'
import { text, time } from '../../common-schemas.ts'
import { area, type Routes } from '../../route.ts'
import { createdPasskey, language, newPassword, password, personName } from '../schemas.ts'

const shared = { tag: 'Console: profile', signInOnly: true } as const

const recoveryCodes = z.object({
  recovery_codes: z.array(z.string()).describe('Shown once; each works once.'),
})

/** `PublicKeyCredentialCreationOptionsJSON`, as browsers parse it. */
const creationOptions = z.object({
  rp: z.object({ id: z.string(), name: z.string() }),
  user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
  challenge: z.string(),
  pubKeyCredParams: z.array(z.object({ type: z.literal('public-key'), alg: z.int() })),
  timeout: z.int().describe('Milliseconds.'),
  excludeCredentials: z.array(z.object({ type: z.literal('public-key'), id: z.string() })),
  authenticatorSelection: z.object({
    residentKey: z.literal('preferred'),
    userVerification: z.literal('required'),
  }),
  attestation: z.literal('none'),
})

export const profileContract = area(shared, {
  'PATCH /profile': {
    role: 'user',
    summary: 'Change your name or language',
    body: z.object({ name: personName.optional(), language: language.optional() }),
  },
  'POST /profile/password': {
    role: 'user',
    summary: 'Change your password',
    description: 'Ends your other sessions.',
    body: z.object({ current_password: password, new_password: newPassword }),
    errors: [401, 429],
  },
  'GET /profile/sessions': {
    role: 'user',
    summary: 'List your sessions',
    answer: z.object({
      data: z.array(
        z.object({
          id: z.string(),
          created_at: time,
          seen_at: time,
          ip: z.string(),
          user_agent: z.string(),
          current: z.boolean(),
        }),
      ),
    }),
  },
  'DELETE /profile/sessions': {
    role: 'user',
    summary: 'End all other sessions',
  },
  'DELETE /profile/sessions/:session_id': {
    role: 'user',
    summary: 'End another session',
    errors: [404],
  },
  'POST /profile/totp': {
    role: 'user',
    summary: 'Start adding an authenticator app',
    stepUp: true,
    answer: z.object({
      secret: z.string().describe('Base32, for manual entry.'),
      uri: z.string().describe('The `otpauth:` URI, for a QR code.'),
    }),
  },
  'POST /profile/totp/confirm': {
    role: 'user',
    summary: 'Confirm the authenticator app with its first code',
    description: 'Generates new recovery codes and ends your other sessions.',
    stepUp: true,
    body: z.object({ code: text(10) }),
    answer: recoveryCodes,
    errors: [409, 429],
  },
  'DELETE /profile/totp': {
    role: 'user',
    summary: 'Remove the authenticator app',
    stepUp: true,
  },
  'POST /profile/recovery-codes': {
    role: 'user',
    summary: 'Generate new recovery codes',
    description: 'The previous codes stop working.',
    stepUp: true,
    answer: recoveryCodes,
  },
  'GET /profile/passkeys': {
    role: 'user',
    summary: 'List your passkeys',
    answer: z.object({
      data: z.array(
        z.object({
          id: z.string(),
          name: z.string(),
          backed_up: z.boolean().describe('True if a password manager syncs it.'),
          created_at: time,
          used_at: time.nullable(),
        }),
      ),
    }),
  },
  'POST /profile/passkeys/options': {
    role: 'user',
    summary: 'Start adding a passkey',
    stepUp: true,
    answer: creationOptions,
    errors: [409],
  },
  'POST /profile/passkeys': {
    role: 'user',
    summary: 'Add a passkey',
    description: 'Ends your other sessions.',
    stepUp: true,
    body: z.object({ name: text(100).min(1), credential: createdPasskey }),
    answer: z.object({
      id: z.string(),
      recovery_codes: z
        .array(z.string())
        .nullable()
        .describe('Generated with the first second factor and shown once.'),
    }),
    errors: [409],
  },
  'DELETE /profile/passkeys/:passkey_id': {
    role: 'user',
    summary: 'Remove a passkey',
    stepUp: true,
    errors: [404, 409],
  },
} as const satisfies Routes<keyof typeof shared>)
