/** Reads the options of a chat completion that change its price. */
import { isAbsent, isObject, type JsonObject } from '../../../../base/lib/json.ts'
import type { Measure } from './measure.ts'
import {
  CLIENT_TOOL,
  kindOfVendorFunction,
  type PricedOptions,
  type PricedToolKind,
  readCommon,
  readModalities,
  readPricedTools,
  TOKEN_TOOL,
  UNKNOWN_TOOL,
  WEB_FETCH,
  WEB_SEARCH,
} from './priced-options.ts'
import { readRouter } from './router-options.ts'
import { isOn, readSearchOptions } from './search-options.ts'
import { readChatThinking } from './translated-thinking.ts'

/** Tool types by their first word; vendors add dates. */
const KINDS: readonly (readonly [RegExp, PricedToolKind])[] = [
  [/^(?:function|custom|namespace)$/, CLIENT_TOOL],
  [/^(?:[a-z]+:)?(?:web_search|x_search)/, WEB_SEARCH],
  [/^(?:[a-z]+:)?web_(?:fetch|extractor)/, WEB_FETCH],
  [/^mcp$/, TOKEN_TOOL],
]

function kindOf(tool: JsonObject): PricedToolKind {
  const { type } = tool
  const own = kindOfVendorFunction(tool)
  if (own) return own
  if (isAbsent(type)) return isObject(tool.function) ? CLIENT_TOOL : UNKNOWN_TOOL
  const known = typeof type === 'string' && KINDS.find(([pattern]) => pattern.test(type))
  return known ? known[1] : UNKNOWN_TOOL
}

export function readChatOptions(value: JsonObject, measure: Measure): PricedOptions {
  const options = readCommon(value, measure, { isDropped: true, isMark: true })
  options.translatedThinking = readChatThinking(value)
  readModalities(options, value)
  readPricedTools(options, value, kindOf)
  readSearchOptions(options, value)
  readRouter(options, value)
  if (isOn(value.deferred)) {
    // The answer to such a request has neither output nor usage: both are in the answer to a later
    // request.
    options.features.push({ field: 'deferred', value: 'true', isDropped: true })
  }
  return options
}
