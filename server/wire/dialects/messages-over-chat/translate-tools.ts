/** Translates tool definitions and the choice among them. */
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { type ChatQuirks, checkToolChoice } from '../chat/quirks.ts'
import { InvalidRequest } from '../invalid-request.ts'
import { findKnownTool } from './known-tools.ts'
import type { ToolNames } from './tool-names.ts'

export interface MessageChatTools {
  readonly tools?: readonly JsonObject[]
  readonly tool_choice?: unknown
  readonly parallel_tool_calls?: false
  readonly web_search_options?: JsonObject
}

/**
 * Tools of the vendor's own server that agents always offer. Unless one is demanded, they are
 * omitted and named in a header of the answer, and the model answers without them.
 */
const HOSTED = /^(?:(?:web_search|web_fetch|code_execution|tool_search_tool)_.*|mcp_toolset)$/

/**
 * Throws for tools that neither the caller nor the vendor's own server is known to run, and for a
 * request that demands one of the omitted tools.
 */
export function translateMessageTools(
  request: JsonObject,
  quirks: ChatQuirks,
  names: ToolNames,
): MessageChatTools {
  const { tool_choice: choice } = request
  const definitions = listTools(request)
  const tools = definitions.flatMap((tool, position) => translateTool(tool, position, names))
  const search = definitions.find((tool) => isTranslatedSearch(tool, quirks))
  const searching = search && member(choice, 'type') !== 'none' ? translateSearch(search) : {}
  if (tools.length === 0) {
    if (search && !isForced(choice)) return searching
    if (definitions.length > 0 && isForced(choice)) throw refuseChoice()
    return {}
  }
  const toolChoice = translateChoice(choice, names, tools)
  checkToolChoice(toolChoice, quirks)
  const single = member(choice, 'disable_parallel_tool_use') === true && quirks.parallel_tool_calls
  return {
    tools,
    ...searching,
    tool_choice: toolChoice,
    ...(single ? { parallel_tool_calls: false } : {}),
  }
}

/** Returns the omitted tools, by position and type. */
export function listIgnoredTools(request: JsonObject, quirks: ChatQuirks): string[] {
  return listTools(request).flatMap((tool, position) => {
    const type = asString(member(tool, 'type')) ?? ''
    if (!HOSTED.test(type) || isTranslatedSearch(tool, quirks)) return []
    return [`tools[${position}]=${type}`]
  })
}

/** True for a search that the chat vendor runs itself. */
function isTranslatedSearch(tool: unknown, { webSearch = false }: ChatQuirks): boolean {
  return webSearch && /^web_search_/.test(asString(member(tool, 'type')) ?? '')
}

function translateSearch(tool: unknown): Pick<MessageChatTools, 'web_search_options'> {
  const uses = member(tool, 'max_uses')
  return { web_search_options: typeof uses === 'number' ? { max_uses: uses } : {} }
}

function listTools({ tools }: JsonObject): readonly unknown[] {
  if (tools === undefined || tools === null) return []
  if (!Array.isArray(tools)) throw new InvalidRequest('tools', 'must be an array')
  return tools
}

function translateTool(tool: unknown, position: number, names: ToolNames): JsonObject[] {
  const param = `tools[${position}]`
  if (!isObject(tool)) throw new InvalidRequest(param, 'must be an object')
  const { type, name, description, input_schema: schema } = tool
  if (typeof type === 'string' && HOSTED.test(type)) return []
  if (typeof name !== 'string' || name === '') {
    throw new InvalidRequest(`${param}.name`, 'is required')
  }
  if (typeof type === 'string' && type !== 'custom') {
    const known = findKnownTool(type)
    if (!known)
      throw new InvalidRequest(`${param}.type`, "this model cannot run its vendor's tools")
    return [{ type: 'function', function: { name: names.toChat(name), ...known } }]
  }
  const described = typeof description === 'string' && description !== '' ? { description } : {}
  const definition = { name: names.toChat(name), ...described, parameters: completeSchema(schema) }
  return [{ type: 'function', function: definition }]
}

/** Strict vendors refuse parameters without a type or without properties. */
function completeSchema(schema: unknown): JsonObject {
  const original = isObject(schema) ? schema : {}
  const { type = 'object', properties } = original
  if (original.type && (type !== 'object' || isObject(properties))) return original
  return { ...original, type, properties: isObject(properties) ? properties : {} }
}

function translateChoice(choice: unknown, names: ToolNames, tools: readonly JsonObject[]): unknown {
  switch (member(choice, 'type')) {
    case 'auto':
      return 'auto'
    case 'any':
      return 'required'
    case 'none':
      return 'none'
    case 'tool': {
      const name = names.toChat(asString(member(choice, 'name')) ?? '')
      const exists = tools.some((tool) => member(tool.function, 'name') === name)
      if (exists) return { type: 'function', function: { name } }
      throw new InvalidRequest('tool_choice', 'names a tool that is not offered')
    }
    default:
      if (choice === undefined || choice === null) return undefined
      throw new InvalidRequest('tool_choice.type', 'must be auto, any, none or tool')
  }
}

function refuseChoice(): InvalidRequest {
  return new InvalidRequest('tool_choice', 'requires a tool that this model does not support')
}

/** Returns true if a call is demanded. */
function isForced(choice: unknown): boolean {
  const type = member(choice, 'type')
  return type === 'any' || type === 'tool'
}
