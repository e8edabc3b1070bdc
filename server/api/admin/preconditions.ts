/**
 * Preconditions of a request that writes an entry. `If-None-Match: *`: it is new. `If-Match: "…"`:
 * it is as the caller has read it.
 */
import type { Context } from '../../base/http/context.ts'

/** The sentences that describe these preconditions in the reference. */
export const CREATES_ONLY =
  'With the header `If-None-Match: *` it only creates: 409 if the name is in use.'

export function changesOnly(revision: string): string {
  return `With \`If-Match: "…"\` it only changes what still has that ${revision}: 409 otherwise.`
}

function isCreation({ request }: Context): boolean {
  return request.headers['if-none-match']?.trim() === '*'
}

/** Returns the preconditions of a request, for the functions that edit the catalog. */
export function preconditionsOf(context: Context) {
  const expected = context.request.headers['if-match']?.trim()
  return {
    isNew: isCreation(context),
    // Accepted with or without quotes. `*`, `W/"…"` and lists are never a revision, so they lead to
    // a 409.
    ...(expected === undefined ? {} : { revision: expected.replace(/^"(.*)"$/, '$1') }),
  }
}
