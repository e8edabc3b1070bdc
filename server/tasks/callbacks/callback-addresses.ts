/**
 * The addresses at which vendors report on a submission: an attempt's id, and a signature that only
 * this gateway can make. Nothing is stored for them: what is forged is refused without a look into
 * the database, and a copy of the database has no address to give away.
 */
import type { SecretBox } from '../../lib/secrets/secrets.ts'

export const VENDOR_CALLBACK_PATH = '/v1/hooks/upstream'

const CONTEXT = 'upstream hook'
const ATTEMPT = 'att_'
const TOKEN_SHAPE = /^([0-9A-Za-z]{22})\.([\w-]{43})$/

export interface CallbackAddresses {
  /** Undefined where no vendor can reach this gateway. */
  urlOf(attemptId: string): string | undefined
  /** The attempt that a token was made for; undefined for anything that was not made here. */
  attemptOf(token: string): string | undefined
}

/** `base` is how vendors reach this gateway, without a trailing slash. */
export function createCallbackAddresses(
  secrets: Pick<SecretBox, 'sign' | 'isSigned'>,
  base: () => string | undefined,
): CallbackAddresses {
  return {
    urlOf(attemptId) {
      const origin = base()
      if (origin === undefined) return undefined
      const signature = secrets.sign(attemptId, CONTEXT).toString('base64url')
      return `${origin}${VENDOR_CALLBACK_PATH}/${attemptId.slice(ATTEMPT.length)}.${signature}`
    },
    attemptOf(token) {
      const [, id, signature] = TOKEN_SHAPE.exec(token) ?? []
      if (id === undefined || signature === undefined) return undefined
      const attemptId = ATTEMPT + id
      const bytes = Buffer.from(signature, 'base64url')
      // The last character has two bits to spare: of four ways to write it, one is ours.
      if (bytes.toString('base64url') !== signature) return undefined
      return secrets.isSigned(bytes, attemptId, CONTEXT) ? attemptId : undefined
    },
  }
}
