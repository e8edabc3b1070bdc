/**
 * Lists the members that a translation omits because the other dialect does not have them. Answers
 * name them in a header, so that nothing is dropped silently.
 */
import { isObject, type JsonObject } from '../../base/lib/json.ts'

/** Returns the names of members that are set and not in `known`: translated, or hints. */
export function listIgnored(request: JsonObject, known: ReadonlySet<string>): string[] {
  return Object.keys(request).filter((name) => !known.has(name) && isSet(request[name]))
}

/** Values such as false, zero and empty ones request nothing. */
function isSet(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  if (isObject(value)) return Object.keys(value).length > 0
  return Boolean(value)
}

/** Returns the set of names in a text. */
export function namesIn(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/))
}
