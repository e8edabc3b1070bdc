/** What a Responses request asks for that changes its price. */
import { asString, isObject, type JsonObject, member } from '../../../lib/json.ts'
import type { Measure } from './measure.ts'
import {
  type Asking,
  CLIENT_TOOL,
  countOf,
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

/** A container lives for this long, at least. */
const SESSION_MINUTES = 20
/** The dearest common image, and each preview of it. */
const IMAGE_TOKENS = 6_240
const PREVIEW_TOKENS = 100
/** What makes images where the tool names no model. */
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
  [/^(?:[a-z]+:)?web_search(?:_\d|$)/, () => hosted('web_search_call')],
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
  return { isHosted: true, feature: { unit, ...(facts ? { facts } : {}) } }
}

function containerOf(container: unknown): PricedToolKind {
  const tool = asString(member(container, 'memory_limit')) ?? '1g'
  const feature = { unit: 'container_minute', facts: { tool } } as const
  return { isHosted: true, feature, each: SESSION_MINUTES, isOnce: true }
}

/** A shell runs where its environment says: at the caller's, or in a container. */
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
  if (CLIENT_TYPES.has(type)) return CLIENT_TOOL
  const known = typeof type === 'string' && KINDS.find(([pattern]) => pattern.test(type))
  return known ? known[1](tool) : UNKNOWN_TOOL
}

export function readResponsesAsking(value: JsonObject, measure: Measure): Asking {
  const asking = createAsking()
  const { tools, max_tool_calls: most } = value
  readCommon(asking, value, measure)
  readModalities(asking, value)
  readRouter(asking, value)
  readPricedTools(asking, tools, 'tools', kindOf, countOf(most))
  readNamespaces(asking, tools, countOf(most))
  readFound(asking, value.input, countOf(most))
  return asking
}

/** A namespace is a list of the caller's functions: nothing that the vendor runs hides in one. */
function readNamespaces(asking: Asking, tools: unknown, most: number | undefined): void {
  if (!Array.isArray(tools)) return
  for (let index = 0; index < tools.length; index += 1) {
    const tool: unknown = tools[index]
    if (isObject(tool)) readPricedTools(asking, tool.tools, `tools[${index}].tools`, kindOf, most)
  }
}

/** Tools that the caller's own search has found are offered like the others. */
function readFound(asking: Asking, input: unknown, most: number | undefined): void {
  if (!Array.isArray(input)) return
  for (let index = 0; index < input.length; index += 1) {
    const item: unknown = input[index]
    if (!isObject(item) || item.type !== 'tool_search_output') continue
    readPricedTools(asking, item.tools, `input[${index}].tools`, kindOf, most)
  }
}
