/**
 * Translates the Responses dialect's web search to chat's `web_search_options`, where the vendor
 * searches by itself. Elsewhere the tool is left out and named, like other tools of a vendor.
 */
import { isAbsent, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import type { ChatQuirks } from '../chat/quirks.ts'

const TYPE = /^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/
/** The name by which the vendor's model calls the search: a function of that name excludes it. */
export const SEARCH_NAME = 'web_search'

export interface WebSearch {
  readonly tool: unknown
  readonly options: JsonObject
}

/** Returns the search to translate; undefined if none is offered, or if the vendor has none. */
export function findWebSearch(
  request: JsonObject,
  { webSearch }: ChatQuirks,
): WebSearch | undefined {
  const { tools, tool_choice: choice, max_tool_calls: usesMax } = request
  if (!webSearch || !Array.isArray(tools) || choice === 'none' || usesMax === 0) return undefined
  const tool: unknown = tools.find(isTranslatable)
  if (!isObject(tool) || !isAllowed(choice) || tools.some(isNamesake)) return undefined
  const { filters, user_location: place } = tool
  const options = {
    ...(isObject(filters) ? { filters } : {}),
    ...(isObject(place) ? { user_location: place } : {}),
    ...(typeof usesMax === 'number' ? { max_uses: usesMax } : {}),
  }
  return { tool, options }
}

export function isVendorSearch(tool: unknown): boolean {
  const type = member(tool, 'type')
  return typeof type === 'string' && TYPE.test(type)
}

/**
 * A search limited to stored pages is not translated: a live search would disclose the query to
 * others.
 */
function isTranslatable(tool: unknown): boolean {
  return isVendorSearch(tool) && member(tool, 'external_web_access') !== false
}

function isAllowed(choice: unknown): boolean {
  if (member(choice, 'type') !== 'allowed_tools') return true
  const allowed = member(choice, 'tools')
  return Array.isArray(allowed) && allowed.some(isVendorSearch)
}

function isNamesake(tool: unknown): boolean {
  const inner = member(tool, 'tools')
  return member(tool, 'name') === SEARCH_NAME || (Array.isArray(inner) && inner.some(isNamesake))
}

const KNOWN = new Set(['type', 'filters', 'user_location', 'external_web_access'])

/** Returns the settings of a translated search that have no counterpart. */
export function listIgnoredOfSearch(tool: unknown, param: string): string[] {
  if (!isObject(tool)) return []
  const names = Object.keys(tool).filter((name) => !KNOWN.has(name) && !isAbsent(tool[name]))
  const ignored = names.filter((name) => tool[name] !== 'medium')
  return ignored.map((name) => `${param}.${name}`)
}
