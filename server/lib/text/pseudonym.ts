/** A stand-in for a caller's user id: the same each time, and nobody can read the id from it. */
import { createHash } from 'node:crypto'

/** At most 43 characters of `A-Za-z0-9_-`, fewer when `length` is smaller. */
export function pseudonym(text: string, length: number): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, length)
}
