/**
 * Translates tool definitions of the Responses dialect, and the choice among them, to chat. Tools
 * that the vendor itself would run (`web_search`, `code_interpreter`, `mcp`, …) have no schema and
 * are left out: the request succeeds, and the model answers without them.
 */
import { asString, isObject, type JsonObject, member } from '../../lib/json.ts'
import type { ChatQuirks } from '../chat/quirks.ts'
import { InvalidRequest } from '../invalid-request.ts'
import type { CallerTool, ToolMap } from './tool-map.ts'

export interface ResponseChatTools {
  readonly tools?: readonly JsonObject[]
  readonly tool_choice?: unknown
  readonly parallel_tool_calls?: boolean
}

const NO_PARAMETERS = { type: 'object', properties: {} }

/** The one parameter of a function that stands for a tool of free text. */
const FREE_TEXT = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, as it is.' } },
  required: ['input'],
  additionalProperties: false,
}

/** Registers every tool in `map`, also those that the client's search found in earlier turns. */
export function translateResponseTools(
  request: JsonObject,
  quirks: ChatQuirks,
  map: ToolMap,
): ResponseChatTools {
  const functions = new Map<string, JsonObject>()
  for (const [param, tool] of [...listTools(request.tools), ...listDiscovered(request.input)]) {
    for (const one of translateTool(tool, param, map)) {
      functions.set(asString(one.name) ?? '', one)
    }
  }
  const { tool_choice: choice, parallel_tool_calls: parallel } = request
  const allowed = readAllowed(choice, map)
  const tools = [...functions.entries()]
    .filter(([name]) => allowed === undefined || allowed.has(name))
    .map(([, one]) => ({ type: 'function', function: one }))
  if (tools.length === 0) return {}
  const toolChoice = translateChoice(choice, map)
  const hasParallel = typeof parallel === 'boolean' && quirks.parallelToolCalls
  return {
    tools,
    ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }),
    ...(hasParallel ? { parallel_tool_calls: parallel } : {}),
  }
}

function listTools(tools: unknown): [string, unknown][] {
  if (tools === undefined || tools === null) return []
  if (!Array.isArray(tools)) throw new InvalidRequest('tools', 'must be an array')
  return tools.map((tool, position) => [`tools[${position}]`, tool])
}

function listDiscovered(input: unknown): [string, unknown][] {
  if (!Array.isArray(input)) return []
  return input.flatMap((item, position) => {
    const tools = member(item, 'type') === 'tool_search_output' ? member(item, 'tools') : undefined
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
  const namespace = readName(space, param)
  if (!Array.isArray(space.tools)) throw new InvalidRequest(`${param}.tools`, 'must be an array')
  return space.tools.flatMap((tool, position) => {
    const at = `${param}.tools[${position}]`
    if (!isObject(tool)) throw new InvalidRequest(at, 'must be an object')
    return translateOwn(tool, at, map, namespace)
  })
}

/** A search that the client runs is a function like any other; the vendor's own is left out. */
function translateSearch(tool: JsonObject, map: ToolMap): JsonObject[] {
  if (tool.execution !== 'client' || !isObject(tool.parameters)) return []
  return [build({ kind: 'tool_search', name: 'tool_search' }, tool, tool.parameters, map)]
}

function translateOwn(
  tool: JsonObject,
  param: string,
  map: ToolMap,
  namespace?: string,
): JsonObject[] {
  const { type } = tool
  if (type !== 'function' && type !== 'custom') return []
  const name = readName(tool, param)
  const own: CallerTool = { kind: type, name, ...(namespace === undefined ? {} : { namespace }) }
  if (type === 'function') return [build(own, tool, completeSchema(tool.parameters), map)]
  return [build(own, { description: describeCustom(tool) }, FREE_TEXT, map)]
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

function readName(tool: JsonObject, param: string): string {
  const { name } = tool
  if (typeof name === 'string' && name !== '') return name
  throw new InvalidRequest(`${param}.name`, 'is required')
}

/** Strict vendors refuse parameters without a type or without properties. */
function completeSchema(schema: unknown): JsonObject {
  if (!isObject(schema)) return NO_PARAMETERS
  const { type = 'object', properties } = schema
  if (schema.type && (type !== 'object' || isObject(properties))) return schema
  return { ...schema, type, properties: isObject(properties) ? properties : {} }
}

/** Describes the grammar to the model, since it cannot be enforced here. */
function describeCustom({ description, format }: JsonObject): string {
  const definition = asString(member(format, 'definition'))
  const syntax = asString(member(format, 'syntax')) ?? ''
  const grammar = definition === undefined ? [] : [`It follows this ${syntax} grammar:`, definition]
  return [
    asString(description) ?? '',
    'Give the whole input as the string `input`.',
    ...grammar,
  ].join('\n')
}

/** Returns the function names in `allowed_tools`; undefined for any other choice. */
function readAllowed(choice: unknown, map: ToolMap): ReadonlySet<string> | undefined {
  if (member(choice, 'type') !== 'allowed_tools') return undefined
  const tools = member(choice, 'tools')
  if (!Array.isArray(tools)) throw new InvalidRequest('tool_choice.tools', 'must be an array')
  return new Set(tools.map((tool) => findName(tool, map) ?? ''))
}

function translateChoice(choice: unknown, map: ToolMap): unknown {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice
  switch (member(choice, 'type')) {
    case 'allowed_tools':
      return member(choice, 'mode') === 'required' ? 'required' : 'auto'
    case 'function':
    case 'custom': {
      const name = findName(choice, map)
      return name === undefined ? undefined : { type: 'function', function: { name } }
    }
    default:
      return undefined
  }
}

function findName(tool: unknown, map: ToolMap): string | undefined {
  return map.find(asString(member(tool, 'name')) ?? '', asString(member(tool, 'namespace')))
}
