/**
 * Translates tool definitions of the Responses dialect, and the choice among them, to chat. Tools
 * that only the vendor itself could run (`code_interpreter`, `mcp`, …) are left out and named.
 */
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { describeFreeText, FREE_TEXT } from '../chat/free-text-tool.ts'
import { type ChatQuirks, checkToolChoice } from '../chat/quirks.ts'
import { expectName, InvalidRequest } from '../invalid-request.ts'
import type { CallerTool, ToolMap } from './tool-map.ts'
import { isVendorSearch, listIgnoredOfSearch, SEARCH_NAME, type WebSearch } from './web-search.ts'

export interface ResponseChatTools {
  readonly tools?: readonly JsonObject[]
  readonly tool_choice?: unknown
  readonly parallel_tool_calls?: boolean
  readonly web_search_options?: JsonObject
}

const NO_PARAMETERS = { type: 'object', properties: {} }

/**
 * Tools of the vendor's own server that agents always offer. Unless one is demanded, they are
 * omitted and named in a header of the answer, and the model answers without them.
 */
const HOSTED_NAMES =
  'web_search.*|tool_search|file_search|image_generation|mcp|local_shell|shell|code_interpreter'
const HOSTED = new RegExp(`^(?:${HOSTED_NAMES})$`)

/**
 * Registers every tool in `map`, also those that the client's search found in earlier turns. Throws
 * for a request that demands an omitted tool.
 */
export function translateResponseTools(
  request: JsonObject,
  quirks: ChatQuirks,
  map: ToolMap,
  search?: WebSearch,
): ResponseChatTools {
  const functions = new Map<string, JsonObject>()
  const offered = [...listTools(request.tools), ...listDiscovered(request.input)]
  for (const [param, tool] of offered) {
    for (const one of translateTool(tool, param, map)) {
      functions.set(asString(one.name) ?? '', one)
    }
  }
  const { tool_choice: choice, parallel_tool_calls: parallel } = request
  const allowed = readAllowed(choice, map)
  const tools = [...functions.entries()]
    .filter(([name]) => allowed === undefined || allowed.has(name))
    .map(([, one]) => ({ type: 'function', function: one }))
  if (tools.length === 0 && !search) {
    if (offered.length > 0 && isForced(choice)) throw refuseChoice()
    return {}
  }
  const toolChoice = translateChoice(choice, map, search)
  checkToolChoice(toolChoice, quirks)
  const hasParallel = typeof parallel === 'boolean' && quirks.parallel_tool_calls
  return {
    ...(tools.length > 0 ? { tools } : {}),
    ...(search ? { web_search_options: search.options } : {}),
    ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }),
    ...(hasParallel ? { parallel_tool_calls: parallel } : {}),
  }
}

/** Returns the omitted tools, by position and type. */
export function listResponseToolsLeftOut(request: JsonObject, search?: WebSearch): string[] {
  const all = [...listTools(request.tools), ...listDiscovered(request.input)]
  return all.flatMap(([param, tool]) => {
    if (search && tool === search.tool) return listIgnoredOfSearch(tool, param)
    const type = asString(member(tool, 'type')) ?? ''
    return HOSTED.test(type) && !isClientSearch(tool) ? [`${param}=${type}`] : []
  })
}

function listTools(tools: unknown): [string, unknown][] {
  if (tools === undefined || tools === null) return []
  if (!Array.isArray(tools)) throw new InvalidRequest('tools', 'must be an array')
  return tools.map((tool, position) => [`tools[${position}]`, tool])
}

/** Items that bring tools in the middle of a conversation. */
const TOOL_ITEMS: ReadonlySet<unknown> = new Set(['tool_search_output', 'additional_tools'])

function listDiscovered(input: unknown): [string, unknown][] {
  if (!Array.isArray(input)) return []
  return input.flatMap((item, position) => {
    const tools = TOOL_ITEMS.has(member(item, 'type')) ? member(item, 'tools') : undefined
    if (!Array.isArray(tools)) return []
    return tools.map((tool, index): [string, unknown] => [
      `input[${position}].tools[${index}]`,
      tool,
    ])
  })
}

function translateTool(tool: unknown, param: string, map: ToolMap): JsonObject[] {
  if (!isObject(tool)) throw new InvalidRequest(param, 'must be an object')
  if (tool.type === 'namespace') return translateNamespace(tool, param, map)
  if (tool.type === 'tool_search') return translateSearch(tool, map)
  return translateOwn(tool, param, map)
}

function translateNamespace(space: JsonObject, param: string, map: ToolMap): JsonObject[] {
  const namespace = expectName(space.name, `${param}.name`)
  if (!Array.isArray(space.tools)) throw new InvalidRequest(`${param}.tools`, 'must be an array')
  return space.tools.flatMap((tool, position) => {
    const at = `${param}.tools[${position}]`
    if (!isObject(tool)) throw new InvalidRequest(at, 'must be an object')
    return translateOwn(tool, at, map, namespace)
  })
}

function isClientSearch(tool: unknown): boolean {
  return member(tool, 'execution') === 'client' && isObject(member(tool, 'parameters'))
}

/** A search that the client runs is a function like any other; the vendor's own is left out. */
function translateSearch(tool: JsonObject, map: ToolMap): JsonObject[] {
  if (!isClientSearch(tool)) return []
  return [build({ kind: 'tool_search', name: 'tool_search' }, tool, tool.parameters, map)]
}

function translateOwn(
  tool: JsonObject,
  param: string,
  map: ToolMap,
  namespace?: string,
): JsonObject[] {
  const { type } = tool
  if (type !== 'function' && type !== 'custom') {
    if (typeof type === 'string' && HOSTED.test(type)) return []
    throw new InvalidRequest(`${param}.type`, 'this model takes functions and custom tools only')
  }
  const name = expectName(tool.name, `${param}.name`)
  const own: CallerTool = { kind: type, name, ...(namespace === undefined ? {} : { namespace }) }
  if (type === 'function') return [build(own, tool, completeSchema(tool.parameters), map)]
  const description = describeFreeText(tool.description, tool.format)
  return [build(own, { description }, FREE_TEXT, map)]
}

function build(tool: CallerTool, source: JsonObject, parameters: unknown, map: ToolMap) {
  const { description, strict } = source
  return {
    name: map.toChat(tool),
    ...(typeof description === 'string' && description !== '' ? { description } : {}),
    parameters,
    ...(strict === true ? { strict } : {}),
  }
}

/** Strict vendors refuse parameters without a type or without properties. */
function completeSchema(schema: unknown): JsonObject {
  if (!isObject(schema)) return NO_PARAMETERS
  const { type = 'object', properties } = schema
  if (schema.type && (type !== 'object' || isObject(properties))) return schema
  return { ...schema, type, properties: isObject(properties) ? properties : {} }
}

/** Returns the function names in `allowed_tools`; undefined for any other choice. */
function readAllowed(choice: unknown, map: ToolMap): ReadonlySet<string> | undefined {
  if (member(choice, 'type') !== 'allowed_tools') return undefined
  const tools = member(choice, 'tools')
  if (!Array.isArray(tools)) throw new InvalidRequest('tool_choice.tools', 'must be an array')
  return new Set(tools.map((tool) => findName(tool, map) ?? ''))
}

/** Returns true if a call is demanded. */
function isForced(choice: unknown): boolean {
  if (choice === undefined || choice === null || choice === 'auto' || choice === 'none')
    return false
  return member(choice, 'type') !== 'allowed_tools' || member(choice, 'mode') === 'required'
}

function refuseChoice(): InvalidRequest {
  return new InvalidRequest('tool_choice', 'requires a tool that this model does not support')
}

function translateChoice(choice: unknown, map: ToolMap, search?: WebSearch): unknown {
  if (choice === undefined || choice === null) return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice
  if (search && isVendorSearch(choice)) return { type: 'function', function: { name: SEARCH_NAME } }
  switch (member(choice, 'type')) {
    case 'allowed_tools':
      return member(choice, 'mode') === 'required' ? 'required' : 'auto'
    case 'function':
    case 'custom': {
      const name = findName(choice, map)
      if (name !== undefined) return { type: 'function', function: { name } }
      throw new InvalidRequest('tool_choice', 'names a tool that is not offered')
    }
    default:
      throw refuseChoice()
  }
}

function findName(tool: unknown, map: ToolMap): string | undefined {
  return map.find(asString(member(tool, 'name')) ?? '', asString(member(tool, 'namespace')))
}
