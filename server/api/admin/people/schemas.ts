/** Schemas that routes about people share. */
import { z } from 'zod'
import { MEMBER_ROLES, readMemberRole } from '../../../base/lib/member-roles.ts'
import { text } from '../common-schemas.ts'

export const email = z.email().max(254)
export const memberRole = z.enum(MEMBER_ROLES)
/** A role in a request: `member`, the former name of `developer`, is still accepted. */
export const newMemberRole = z
  .enum([...MEMBER_ROLES, 'member'])
  .transform((role) => readMemberRole(role) ?? 'viewer')
  .describe(
    'owner: everything; billing: reads and pays; developer: reads, calls, has own keys; ' +
      'viewer: reads. `member` is read as developer.',
  )
export const language = z.enum(['en', 'zh'])
export const personName = text(200).min(1)
/** Never trimmed. The limit exceeds every accepted password. */
export const password = z.string().min(1).max(1000)
export const newPassword = password.describe('12 to 128 characters; common passwords are refused.')

const factor = z.enum(['totp', 'passkey', 'recovery_code'])
export const outcome = z
  .object({
    status: z.enum(['signed_in', 'second_factor']),
    methods: z.array(factor).describe('Available second factors; empty when signed in.'),
  })
  .describe('`second_factor`: the password was correct, and one of `methods` is required.')

const bytes = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[\w-]*$/, 'must be base64url')

/** `PublicKeyCredential.toJSON()` of a signature. */
export const signedPasskey = z.object({
  id: bytes(1400),
  response: z.object({
    clientDataJSON: bytes(4000),
    authenticatorData: bytes(4000),
    signature: bytes(2000),
    userHandle: bytes(200).nullish(),
  }),
})

/** `PublicKeyCredential.toJSON()` of a creation. */
export const createdPasskey = z.object({
  id: bytes(1400),
  response: z.object({
    clientDataJSON: bytes(4000),
    attestationObject: bytes(8000),
    transports: z.array(z.string().max(50)).max(10).optional(),
  }),
})
