/** Reads the options of a chat completion that change its price. */
import { isAbsent, isObject, type JsonObject, member } from '../../../lib/json.ts'
import type { Measure } from './measure.ts'
import {
  CLIENT_TOOL,
  createPricedOptions,
  type PricedOptions,
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
  // The vendor's own functions have names with a dollar sign.
  if (typeof name === 'string' && name.startsWith('$')) {
    return name === '$web_search' ? SEARCH : UNKNOWN_TOOL
  }
  if (isAbsent(type)) return isObject(tool.function) ? CLIENT_TOOL : UNKNOWN_TOOL
  const known = typeof type === 'string' && KINDS.find(([pattern]) => pattern.test(type))
  return known ? known[1] : UNKNOWN_TOOL
}

export function readChatOptions(value: JsonObject, measure: Measure): PricedOptions {
  const options = createPricedOptions()
  readCommon(options, value, measure)
  readModalities(options, value)
  readPricedTools(options, value.tools, 'tools', kindOf, undefined)
  readSearches(options, value)
  readRouter(options, value)
  if (isOn(value.deferred)) {
    // The answer to such a request has neither output nor usage: both come later, to another one.
    options.features.push({ field: 'deferred', value: 'true', isDropped: true })
  }
  return options
}

function readSearches(options: PricedOptions, value: JsonObject): void {
  const { search_parameters: parameters } = value
  if (isOn(value.web_search_options)) addSearch(options, 'web_search_options')
  if (isOn(value.enable_search)) addSearch(options, 'enable_search')
  if (isOn(parameters) && member(parameters, 'mode') !== 'off') {
    addSearch(options, 'search_parameters')
  }
}

/** Returns true for any value except false: vendors also accept 1 and "true". */
function isOn(value: unknown): boolean {
  return !isAbsent(value) && value !== false
}

function addSearch(options: PricedOptions, field: string): void {
  options.isHosted = true
  options.features.push({ field, value: 'web search', unit: 'web_search_call', quantity: 1 })
}
