/**
 * Translates a chat request's `web_search_options` to the search that a messages vendor runs itself
 * (docs/protocols/anthropic.md#web-search). A translation of the Responses dialect adds `filters`
 * and `max_uses`, which chat clients do not have.
 */
import { isAbsent, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { InvalidRequest } from '../invalid-request.ts'
import type { MessagesQuirks } from '../messages/quirks.ts'

/** The vendor's own name of the tool, which no other tool may have. */
const NAME = 'web_search'
const TYPE = 'web_search_20250305'
const PLACES = ['city', 'region', 'country', 'timezone']
const DOMAINS = ['allowed_domains', 'blocked_domains']

/** The most searches for a request that names no limit: the vendor has none of its own. */
const SEARCHES_MAX = 5

/** Returns the most searches that a translated request allows, by the caller's `max_uses`. */
export function searchesOf(usesMax: unknown): number {
  return Number.isSafeInteger(usesMax) && Number(usesMax) > 0 ? Number(usesMax) : SEARCHES_MAX
}

/** Returns the tool, or none. Throws for a search if the channel's model has no price for it. */
export function translateSearch(
  { web_search_options: options, tool_choice: choice }: JsonObject,
  functions: readonly JsonObject[],
  { webSearch = false }: MessagesQuirks,
): readonly JsonObject[] {
  if (isAbsent(options)) return []
  if (!webSearch) throw new InvalidRequest('web_search_options', 'this model does not search')
  if (!isObject(options)) throw new InvalidRequest('web_search_options', 'must be an object')
  if (functions.some(({ name }) => name === NAME)) {
    throw new InvalidRequest(
      'web_search_options',
      `cannot be combined with a function named '${NAME}'`,
    )
  }
  if (choice === 'none') return []
  const { max_uses: usesMax, filters, user_location: place } = options
  return [
    {
      type: TYPE,
      name: NAME,
      max_uses: searchesOf(usesMax),
      ...pick(filters, DOMAINS),
      ...translatePlace(place),
    },
  ]
}

/** Chat nests the fields of a place under its type; Responses and messages do not. */
function translatePlace(place: unknown): JsonObject {
  const fields = pick(member(place, 'approximate') ?? place, PLACES)
  const isKnown = Object.keys(fields).length > 0
  return isKnown ? { user_location: { type: 'approximate', ...fields } } : {}
}

function pick(source: unknown, names: readonly string[]): JsonObject {
  const found = names.map((name) => [name, member(source, name)] as const)
  return Object.fromEntries(found.filter(([, value]) => !isAbsent(value)))
}

const KNOWN = new Set(['max_uses', 'filters', 'user_location'])

function isDefault(value: unknown): boolean {
  return isAbsent(value) || value === 'medium'
}

/** Returns the parts of the options that have no effect on the vendor's search. */
export function listIgnoredSearch(request: JsonObject): string[] {
  const { web_search_options: options, tool_choice: choice } = request
  if (isAbsent(options)) return []
  if (choice === 'none') return ['web_search_options']
  const names = isObject(options) ? Object.keys(options) : []
  const ignored = names.filter((name) => !KNOWN.has(name) && !isDefault(member(options, name)))
  return ignored.map((name) => `web_search_options.${name}`)
}
