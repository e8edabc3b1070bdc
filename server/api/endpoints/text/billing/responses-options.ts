/** Reads the options of a Responses request that change its price. */
import { asString, isAbsent, type JsonObject, member } from '../../../../base/lib/json.ts'
import type { Measure } from './measure.ts'
import {
  CLIENT_TOOL,
  countOf,
  kindOfVendorFunction,
  type PricedOptions,
  type PricedToolKind,
  readCommon,
  readModalities,
  readPricedTools,
  TOKEN_TOOL,
  UNKNOWN_TOOL,
  WEB_SEARCH,
} from './priced-options.ts'
import { readRouter } from './router-options.ts'
import { readSearchOptions } from './search-options.ts'
import { readResponsesThinking } from './translated-thinking.ts'

/** Minimum lifetime of a container. */
const SESSION_MINUTES = 20
/** Tokens of the most expensive common image, and of each preview. */
const IMAGE_TOKENS = 6_240
const PREVIEW_TOKENS = 100
/** The model that generates images if the tool names none. */
const IMAGE_MODEL = 'gpt-image-1'

const CLIENT_TYPES: ReadonlySet<unknown> = new Set([
  'function',
  'custom',
  'namespace',
  'local_shell',
  'apply_patch',
  'computer',
  'computer_use',
  'computer_use_preview',
])

const KINDS: readonly (readonly [RegExp, (tool: JsonObject) => PricedToolKind])[] = [
  [/^(?:[a-z]+:)?web_search_preview/, () => hosted('web_search_call', { tool: 'preview' })],
  [/^(?:[a-z]+:)?web_search(?:_\d|$)/, () => WEB_SEARCH],
  [/^x_search$/, () => hosted('web_search_call', { tool: 'x_search' })],
  [/^(?:[a-z]+:)?web_(?:fetch|extractor)/, () => hosted('web_fetch_call')],
  [/^(?:file|collections)_search$/, () => hosted('file_search_call')],
  [/^code_execution$/, () => hosted('code_execution_call')],
  [/^code_interpreter$/, ({ container }) => containerOf(container)],
  [/^shell$/, shellOf],
  [/^image_generation$/, imageTool],
  [/^(?:mcp|tool_search)$/, () => TOKEN_TOOL],
]

function hosted(
  unit: 'web_search_call' | 'web_fetch_call' | 'file_search_call' | 'code_execution_call',
  facts?: { readonly tool: string },
): PricedToolKind {
  return { isHosted: true, feature: { unit, facts } }
}

/** An existing container keeps the memory with which it was created. */
function containerOf(container: unknown): PricedToolKind {
  const tool = asString(member(container, 'memory_limit')) ?? '1g'
  const facts = typeof container === 'string' ? undefined : { tool }
  const feature = { unit: 'container_minute', facts } as const
  return { isHosted: true, feature, each: SESSION_MINUTES, isOnce: true }
}

/** A shell runs at the caller or in a container, depending on its environment. */
function shellOf({ environment }: JsonObject): PricedToolKind {
  const type = member(environment, 'type')
  return isAbsent(type) || type === 'local' ? CLIENT_TOOL : containerOf(environment)
}

function imageTool({ model, partial_images: previews }: JsonObject): PricedToolKind {
  const facts = { model: asString(model) ?? IMAGE_MODEL }
  const work = { image_output_token: IMAGE_TOKENS + (countOf(previews) ?? 0) * PREVIEW_TOKENS }
  return { isHosted: true, feature: { unit: 'image_output_token', facts, work }, each: 0 }
}

function kindOf(tool: JsonObject): PricedToolKind {
  const { type } = tool
  const own = kindOfVendorFunction(tool)
  if (own) return own
  if (CLIENT_TYPES.has(type)) return CLIENT_TOOL
  const known = typeof type === 'string' && KINDS.find(([pattern]) => pattern.test(type))
  return known ? known[1](tool) : UNKNOWN_TOOL
}

export function readResponsesOptions(value: JsonObject, measure: Measure): PricedOptions {
  const options = readCommon(value, measure, { isDropped: true })
  options.translatedThinking = readResponsesThinking(value)
  readModalities(options, value)
  readRouter(options, value)
  readSearchOptions(options, value, { isDropped: true })
  readPricedTools(options, value, kindOf, countOf(value.max_tool_calls))
  return options
}
