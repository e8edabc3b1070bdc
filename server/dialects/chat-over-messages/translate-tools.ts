/** Translates the tool definitions of a chat request, and the choice among them. */
import { asString, isObject, type JsonObject, member } from '../../lib/json.ts'
import { InvalidRequest } from '../invalid-request.ts'

/** Reads `tools`, or the legacy `functions`; tools of other types are left out. */
export function translateChatTools(request: JsonObject): JsonObject {
  const { tools: definitions = [], functions = [] } = request
  if (!Array.isArray(definitions)) throw new InvalidRequest('tools', 'must be an array')
  if (!Array.isArray(functions)) throw new InvalidRequest('functions', 'must be an array')
  const tools = [
    ...definitions.flatMap((tool, position) => {
      if (member(tool, 'type') !== 'function') return []
      return [translateFunction(member(tool, 'function'), `tools[${position}].function`)]
    }),
    ...functions.map((definition, position) =>
      translateFunction(definition, `functions[${position}]`),
    ),
  ]
  if (tools.length === 0) return {}
  const choice = translateChoice(request)
  return choice ? { tools, tool_choice: choice } : { tools }
}

/** Returns true if the answer to a request is expected in the older form, `function_call`. */
export function usesLegacyFunctions({ functions, tools }: JsonObject): boolean {
  return functions !== undefined && tools === undefined
}

function translateFunction(definition: unknown, param: string): JsonObject {
  const name = member(definition, 'name')
  if (typeof name !== 'string' || name === '') {
    throw new InvalidRequest(`${param}.name`, 'is required')
  }
  const description = asString(member(definition, 'description'))
  const parameters = member(definition, 'parameters')
  const schema = isObject(parameters) ? parameters : { properties: {} }
  return {
    name,
    ...(description ? { description } : {}),
    input_schema: { type: 'object', ...schema },
  }
}

function translateChoice(request: JsonObject): JsonObject | undefined {
  const { tool_choice: choice = request.function_call, parallel_tool_calls: parallel } = request
  const toolChoice = readChoice(choice)
  // An answer in the older form has room for one call.
  const isSingle = parallel === false || usesLegacyFunctions(request)
  if (!isSingle || toolChoice?.type === 'none') return toolChoice
  return { ...(toolChoice ?? { type: 'auto' }), disable_parallel_tool_use: true }
}

function readChoice(choice: unknown): JsonObject | undefined {
  if (choice === 'auto' || choice === 'none') return { type: choice }
  if (choice === 'required') return { type: 'any' }
  const name = asString(member(member(choice, 'function'), 'name') ?? member(choice, 'name'))
  return name === undefined ? undefined : { type: 'tool', name }
}
