/**
 * URLs for vendor callbacks: an attempt's id with a signature by this gateway's key. Nothing is
 * stored: a forged token is refused without a query, and a copy of the database reveals no URL.
 */
import type { SecretBox } from '../../../base/lib/secrets/secrets.ts'

export const VENDOR_CALLBACK_PATH = '/v1/hooks/upstream'

const CONTEXT = 'upstream hook'
const ATTEMPT = 'att_'
const TOKEN_SHAPE = /^([0-9A-Za-z]{22})\.([\w-]{43})$/

export interface CallbackAddresses {
  /** Returns the callback URL of an attempt; undefined if no vendor can reach this gateway. */
  urlOf(attemptId: string): string | undefined
  /** Returns the attempt id of a token; undefined for an invalid signature. */
  attemptOf(token: string): string | undefined
}

/** `base` returns the origin under which vendors reach this gateway, without a trailing slash. */
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
      // The last character has two unused bits; accept only the canonical encoding.
      if (bytes.toString('base64url') !== signature) return undefined
      return secrets.isSigned(bytes, attemptId, CONTEXT) ? attemptId : undefined
    },
  }
}
