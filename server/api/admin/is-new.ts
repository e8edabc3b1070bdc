/** `If-None-Match: *`: the request creates its entry, and must not replace one. */
import type { Context } from '../../base/http/context.ts'

/** The sentence for descriptions of routes that take it. */
export const CREATES_ONLY =
  'With the header `If-None-Match: *` it only creates: 409 if the name is in use.'

export function isCreation({ request }: Context): boolean {
  return request.headers['if-none-match']?.trim() === '*'
}
