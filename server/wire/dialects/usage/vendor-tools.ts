/** Reads the calls of vendor-run tools that the usage of an answer counts. */
import { isObject, member } from '../../../base/lib/json.ts'
import type { Quantities, Unit } from '../../../base/lib/units.ts'
import { readCount } from './read-count.ts'
import { largerOfEach, type Tally, tally } from './usage-reading.ts'

export interface ToolReading {
  readonly calls: Quantities
  /** Counts of tools that have no unit. */
  readonly unknown: readonly string[]
  /** True if the answer states how many searches there were, even none. */
  readonly statesSearches: boolean
}

/** `null`: the tool is free, apart from its tokens. */
type Names = Readonly<Record<string, Unit | null>>

/** `server_tool_use`: Anthropic, OpenRouter. Containers are billed by time, not by request. */
const SERVER_TOOL_USE: Names = {
  web_search_requests: 'web_search_call',
  web_fetch_requests: 'web_fetch_call',
  code_execution_requests: null,
  tool_search_requests: null,
  tool_calls_requested: null,
  tool_calls_executed: null,
}

/** `server_side_tool_usage_details`: xAI. */
const SERVER_SIDE_TOOLS: Names = {
  web_search_calls: 'web_search_call',
  x_search_calls: 'web_search_call',
  code_interpreter_calls: 'code_execution_call',
  file_search_calls: 'file_search_call',
  document_search_calls: 'file_search_call',
  mcp_calls: null,
}

/** `tool_usage` (OpenAI, ARK), `plugins` and `x_tools` (DashScope), `connectors` (Mistral). */
const NAMED_TOOLS: Names = {
  search: 'web_search_call',
  web_search: 'web_search_call',
  web_search_premium: 'web_search_call',
  web_extractor: 'web_fetch_call',
  code_interpreter: 'code_execution_call',
  knowledge_search: 'file_search_call',
  document_library: 'file_search_call',
  mcp: null,
  /** Billed separately, as a call to another model. */
  image_gen: null,
}

/** `document` is the answer, or the part of it that has `usage`. */
export function readVendorTools(document: unknown, usage: unknown): ToolReading {
  const unknown: string[] = []
  const read = (source: unknown, name: string, names: Names) =>
    readTools(member(source, name), names, `usage.${name}`, unknown)
  const readings = [
    read(usage, 'server_tool_use', SERVER_TOOL_USE),
    read(usage, 'server_tool_use_details', SERVER_TOOL_USE),
    readServerSideTools(usage, read(usage, 'server_side_tool_usage_details', SERVER_SIDE_TOOLS)),
    read(document, 'tool_usage', NAMED_TOOLS),
    read(usage, 'tool_usage', NAMED_TOOLS),
    read(usage, 'plugins', NAMED_TOOLS),
    read(usage, 'x_tools', NAMED_TOOLS),
    read(usage, 'connectors', NAMED_TOOLS),
    searches(member(usage, 'num_search_queries')),
    searches(proxiedSearches(usage)),
  ]
  const statesSearches = statesSearchesOf(document, usage)
  return { calls: readings.reduce(largerOfEach), unknown, statesSearches }
}

/** Returns the number of calls of all tools. */
export function totalCalls(calls: Quantities): number {
  return Object.values(calls).reduce((sum, count) => sum + count, 0)
}

const SEARCH_COUNTS = ['num_search_queries', 'num_sources_used', 'num_server_side_tools_used']
const REQUEST_PLACES = ['server_tool_use', 'server_tool_use_details']
const SEARCH_PLACES = ['server_side_tool_usage_details', 'tool_usage', 'plugins', 'x_tools']

function statesSearchesOf(document: unknown, usage: unknown): boolean {
  if (SEARCH_COUNTS.some((name) => readCount(member(usage, name)) !== undefined)) return true
  const requests = REQUEST_PLACES.map((name) => member(usage, name)).concat(promptDetails(usage))
  const isCounted = requests.some(
    (one) => readCount(member(one, 'web_search_requests')) !== undefined,
  )
  const isListed = SEARCH_PLACES.some((name) => isObject(member(usage, name)))
  return isCounted || isListed || isObject(member(document, 'tool_usage'))
}

const promptDetails = (usage: unknown) => member(usage, 'prompt_tokens_details')

/** LiteLLM counts the searches of its vendors among the tokens of the prompt. */
function proxiedSearches(usage: unknown): unknown {
  return member(promptDetails(usage), 'web_search_requests')
}

const NO_CALLS: Quantities = {}

function readTools(tools: unknown, names: Names, path: string, unknown: string[]): Quantities {
  if (!isObject(tools)) return NO_CALLS
  const calls: Tally = {}
  for (const [name, value] of Object.entries(tools)) {
    const count = readToolCount(value)
    if (count === 0) continue
    const unit = Object.hasOwn(names, name) ? names[name] : undefined
    if (unit === undefined) unknown.push(`${path}.${name}`)
    else if (unit !== null) tally(calls, unit, count)
  }
  return calls
}

/**
 * Returns a count that is a number, or an object with the number under one of the vendors' names.
 */
function readToolCount(value: unknown): number {
  if (!isObject(value)) return readCount(value) ?? 0
  return readCount(value.num_requests ?? value.count ?? value.requests) ?? 0
}

/** Uses xAI's total if the answer does not list the tools. */
function readServerSideTools(usage: unknown, details: Quantities): Quantities {
  if (isObject(member(usage, 'server_side_tool_usage_details'))) return details
  const sources = member(usage, 'num_sources_used')
  return largerOfEach(searches(member(usage, 'num_server_side_tools_used')), searches(sources))
}

function searches(value: unknown): Quantities {
  if (value === undefined) return NO_CALLS
  const calls: Tally = {}
  tally(calls, 'web_search_call', readCount(value) ?? 0)
  return calls
}
