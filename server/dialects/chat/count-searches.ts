/** Detects searches that the vendor ran for a chat completion and that its usage does not count. */
import { isObject, member } from '../../lib/json.ts'

/** Kimi's search is a call in the answer, and its fee is due once for each answer with it. */
const SEARCH_CALL = '$web_search'

/**
 * Returns true if a message or delta shows a search that is billed per call. Citations count only
 * if the request enabled a search: otherwise they have no fee.
 */
export function showsSearch(message: unknown, asksForSearch: boolean): boolean {
  if (!isObject(message)) return false
  const { annotations, tool_calls: calls } = message
  if (asksForSearch && Array.isArray(annotations) && annotations.some(isCitation)) return true
  return Array.isArray(calls) && calls.some(isSearchCall)
}

function isCitation(annotation: unknown): boolean {
  return member(annotation, 'type') === 'url_citation'
}

function isSearchCall(call: unknown): boolean {
  return member(member(call, 'function'), 'name') === SEARCH_CALL
}
