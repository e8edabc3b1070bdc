/**
 * API keys, with which callers use the public API. Their form is defined in secret-form.ts.
 *
 * For secret scanners: \btr-[0-9A-Za-z]{49}\b
 */
import { createSecretForm, hashSecret } from './secret-form.ts'

const FORM = createSecretForm('tr-')

export const createApiKey = FORM.create
export const isWellFormedApiKey = FORM.isWellFormed
export const displayApiKey = FORM.display
export const hashApiKey = hashSecret

/** A presented key or token in the form used for look-ups; a key itself is not kept. */
export interface PresentedKey {
  /** SHA-256 of the key. */
  readonly hash: Buffer
  /** The hash in base64, for maps. */
  readonly name: string
  /** A token of a directory, in place of a key. */
  readonly token?: string
}

export function presentKey(text: string, isToken = false): PresentedKey {
  const hash = hashApiKey(text)
  return { hash, name: hash.toString('base64'), ...(isToken ? { token: text } : {}) }
}
