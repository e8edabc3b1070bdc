/**
 * Signatures of thoughts, as they travel through other dialects
 * (docs/protocols/google.md#thought-signatures). In chat they are in a member that this vendor
 * defined; elsewhere a prefix distinguishes them from those of other vendors, which refuse each
 * other's.
 */
import { asString, type JsonObject, member } from '../../../base/lib/json.ts'

const MARK = 'google.'

/** Replaces a signature that is lost, or that belongs to another model. */
export const STAND_IN = 'skip_thought_signature_validator'

export function markSignature(signature: string): string {
  return MARK + signature
}

/** Returns the signature; undefined for one of another vendor. */
export function readMarked(text: unknown): string | undefined {
  return typeof text === 'string' && text.startsWith(MARK) ? text.slice(MARK.length) : undefined
}

/** Returns the member of a chat message, a call or an image that carries a signature. */
export function carrySignature(signature: string | undefined): JsonObject {
  return signature ? { extra_content: { google: { thought_signature: signature } } } : {}
}

export function readCarried(holder: unknown): string | undefined {
  const google = member(member(holder, 'extra_content'), 'google')
  return asString(member(google, 'thought_signature')) || undefined
}
