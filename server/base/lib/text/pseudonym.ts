/** Pseudonyms for callers' user ids: stable, and not reversible. */
import { createHash } from 'node:crypto'

/** Returns `length` characters of `A-Za-z0-9_-`, at most 43. */
export function pseudonym(text: string, length: number): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, length)
}
