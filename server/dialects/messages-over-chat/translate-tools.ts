/** Translates tool definitions and the choice among them. */
import { asString, isObject, type JsonObject, member } from '../../lib/json.ts'
import type { ChatQuirks } from '../chat/quirks.ts'
import { InvalidRequest } from '../invalid-request.ts'
import type { ToolNames } from './tool-names.ts'

export interface MessageChatTools {
  readonly tools?: readonly JsonObject[]
  readonly tool_choice?: unknown
  readonly parallel_tool_calls?: false
}

/**
 * Translates tools with a schema. Tools run by a vendor's server (`web_search_…`,
 * `code_execution_…`) have none and are dropped: the model then answers in text.
 */
export function translateMessageTools(
  request: JsonObject,
  quirks: ChatQuirks,
  names: ToolNames,
): MessageChatTools {
  const { tools: definitions = [], tool_choice: choice } = request
  if (!Array.isArray(definitions)) throw new InvalidRequest('tools', 'must be an array')
  const tools = definitions.flatMap((tool, position) => translateTool(tool, position, names))
  if (tools.length === 0) return {}
  const toolChoice = translateChoice(choice, names, tools)
  const single = member(choice, 'disable_parallel_tool_use') === true && quirks.parallelToolCalls
  return {
    tools,
    ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }),
    ...(single ? { parallel_tool_calls: false } : {}),
  }
}

function translateTool(tool: unknown, position: number, names: ToolNames): JsonObject[] {
  const param = `tools[${position}]`
  if (!isObject(tool)) throw new InvalidRequest(param, 'must be an object')
  const { type, name, description, input_schema: schema } = tool
  if (typeof type === 'string' && type !== 'custom') return []
  if (typeof name !== 'string' || name === '') {
    throw new InvalidRequest(`${param}.name`, 'is required')
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
      return exists ? { type: 'function', function: { name } } : undefined
    }
    default:
      return undefined
  }
}
