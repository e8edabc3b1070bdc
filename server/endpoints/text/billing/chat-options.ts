/** What a chat completion asks for that changes its price. */
import { isObject, type JsonObject, member } from '../../../lib/json.ts'
import type { Measure } from './measure.ts'
import {
  type Asking,
  CLIENT_TOOL,
  createAsking,
  isAbsent,
  type PricedToolKind,
  readCommon,
  readModalities,
  readPricedTools,
  TOKEN_TOOL,
  UNKNOWN_TOOL,
} from './priced-options.ts'
import { readRouter } from './router-options.ts'

const SEARCH: PricedToolKind = { isHosted: true, feature: { unit: 'web_search_call' } }

/** Tool types by their first word; vendors add dates. */
const KINDS: readonly (readonly [RegExp, PricedToolKind])[] = [
  [/^(?:function|custom)$/, CLIENT_TOOL],
  [/^(?:[a-z]+:)?(?:web_search|x_search)/, SEARCH],
  [/^(?:[a-z]+:)?web_(?:fetch|extractor)/, { isHosted: true, feature: { unit: 'web_fetch_call' } }],
  [/^mcp$/, TOKEN_TOOL],
]

function kindOf(tool: JsonObject): PricedToolKind {
  const { type } = tool
  const name = member(tool.function, 'name')
  // The vendor's own functions are named like the caller's, with a dollar sign.
  if (typeof name === 'string' && name.startsWith('$')) {
    return name === '$web_search' ? SEARCH : UNKNOWN_TOOL
  }
  if (isAbsent(type)) return isObject(tool.function) ? CLIENT_TOOL : UNKNOWN_TOOL
  const known = typeof type === 'string' && KINDS.find(([pattern]) => pattern.test(type))
  return known ? known[1] : UNKNOWN_TOOL
}

export function readChatAsking(value: JsonObject, measure: Measure): Asking {
  const asking = createAsking()
  readCommon(asking, value, measure)
  readModalities(asking, value)
  readPricedTools(asking, value.tools, 'tools', kindOf, undefined)
  readSearches(asking, value)
  readRouter(asking, value)
  return asking
}

function readSearches(asking: Asking, value: JsonObject): void {
  const { web_search_options: options, search_parameters: parameters } = value
  if (isOn(options)) addSearch(asking, 'web_search_options')
  if (isOn(value.enable_search)) addSearch(asking, 'enable_search')
  if (isOn(parameters) && member(parameters, 'mode') !== 'off') {
    addSearch(asking, 'search_parameters')
  }
}

/** Vendors take more than `true` for a yes, such as 1 and "true". */
function isOn(value: unknown): boolean {
  return !isAbsent(value) && value !== false
}

function addSearch(asking: Asking, field: string): void {
  asking.isHosted = true
  asking.features.push({ field, value: 'web search', unit: 'web_search_call', quantity: 1 })
}
