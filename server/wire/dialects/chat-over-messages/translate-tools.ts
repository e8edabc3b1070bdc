/** Translates the tool definitions of a chat request, and the choice among them. */
import { asString, isObject, type JsonObject, member, printValue } from '../../../base/lib/json.ts'
import { describeFreeText, FREE_TEXT } from '../chat/free-text-tool.ts'
import { expectName, InvalidRequest } from '../invalid-request.ts'
import type { MessagesQuirks } from '../messages/quirks.ts'
import { translateSearch } from './translate-search.ts'
import type { MessagesTurn } from './turns.ts'

/**
 * Reads `tools`, or the legacy `functions`. Throws for tools that a vendor would run: chat clients
 * send them only to use them.
 */
export function translateChatTools(request: JsonObject, quirks: MessagesQuirks): JsonObject {
  const { tools: definitions = [], functions = [], tool_choice: choice } = request
  if (!Array.isArray(definitions)) throw new InvalidRequest('tools', 'must be an array')
  if (!Array.isArray(functions)) throw new InvalidRequest('functions', 'must be an array')
  const allowed = readAllowed(choice)
  const own = [
    ...definitions.map((tool, position) => translateTool(tool, `tools[${position}]`, quirks)),
    ...functions.map((definition, position) =>
      translateFunction(definition, `functions[${position}]`, quirks),
    ),
  ].filter(({ name }) => allowed?.names.has(name) ?? true)
  const tools = [...own, ...translateSearch(request, own, quirks)]
  if (own.length === 0 && allowed) {
    throw new InvalidRequest('tool_choice', 'none of its tools is offered')
  }
  if (tools.length === 0) return {}
  const toolChoice = translateChoice(request, allowed?.mode ?? choice)
  refuseUnoffered(toolChoice, tools)
  return toolChoice ? { tools, tool_choice: toolChoice } : { tools }
}

function translateTool(tool: unknown, param: string, quirks: MessagesQuirks): JsonObject {
  const type = member(tool, 'type') ?? 'function'
  if (type === 'custom') return translateCustom(member(tool, 'custom'), `${param}.custom`)
  if (type !== 'function') {
    throw new InvalidRequest(`${param}.type`, 'this model takes functions and custom tools only')
  }
  const definition = member(tool, 'function')
  const translated = translateFunction(definition, `${param}.function`, quirks)
  const mark = member(tool, 'cache_control') ?? member(definition, 'cache_control')
  return isObject(mark) ? { ...translated, cache_control: mark } : translated
}

/** A free-text tool becomes a function with a single parameter. */
function translateCustom(custom: unknown, param: string): JsonObject {
  const name = expectName(member(custom, 'name'), `${param}.name`)
  const grammar = member(member(custom, 'format'), 'grammar')
  const description = describeFreeText(member(custom, 'description'), grammar)
  return { name, description, input_schema: FREE_TEXT }
}

/** Returns the names of the caller's free-text tools, whose calls have a form of their own. */
export function listCustomTools({ tools }: JsonObject): ReadonlySet<unknown> {
  const all: unknown[] = Array.isArray(tools) ? tools : []
  const custom = all.filter((tool) => member(tool, 'type') === 'custom')
  return new Set(custom.map((tool) => member(member(tool, 'custom'), 'name')))
}

/** Returns true if the answer to a request is expected in the older form, `function_call`. */
export function usesLegacyFunctions({ functions, tools }: JsonObject): boolean {
  return functions !== undefined && tools === undefined
}

function translateFunction(
  definition: unknown,
  param: string,
  { structured_output: structuredOutput }: MessagesQuirks,
): JsonObject {
  const name = expectName(member(definition, 'name'), `${param}.name`)
  const description = asString(member(definition, 'description'))
  const parameters = member(definition, 'parameters')
  const schema = isObject(parameters) ? parameters : { properties: {} }
  return {
    name,
    description: description || undefined,
    input_schema: { type: 'object', ...schema },
    ...(structuredOutput && member(definition, 'strict') === true ? { strict: true } : {}),
  }
}

interface AllowedTools {
  /** The choice among the allowed tools. */
  readonly mode: unknown
  readonly names: ReadonlySet<unknown>
}

const ALLOWED = 'tool_choice.allowed_tools.tools'

/** Reads `allowed_tools`, for which the format has no field: the other tools are not sent. */
function readAllowed(choice: unknown): AllowedTools | undefined {
  if (member(choice, 'type') !== 'allowed_tools') return undefined
  // Some clients send the flat form of responses.
  const allowed = member(choice, 'allowed_tools') ?? choice
  const tools = member(allowed, 'tools')
  if (!Array.isArray(tools)) {
    throw new InvalidRequest(ALLOWED, 'must be an array')
  }
  const names = new Set(
    tools.map((tool, index) => expectName(readToolName(tool), `${ALLOWED}[${index}].name`)),
  )
  return { mode: member(allowed, 'mode'), names }
}

function translateChoice(
  request: JsonObject,
  choice: unknown = request.function_call,
): JsonObject | undefined {
  const toolChoice = readChoice(choice)
  // An answer in the older form has room for one call.
  const isSingle = request.parallel_tool_calls === false || usesLegacyFunctions(request)
  if (!isSingle || toolChoice?.type === 'none') return toolChoice
  return { ...(toolChoice ?? { type: 'auto' }), disable_parallel_tool_use: true }
}

function readChoice(choice: unknown): JsonObject | undefined {
  if (choice === undefined || choice === null) return undefined
  if (choice === 'auto' || choice === 'none') return { type: choice }
  // Mistral's word, which other clients use too.
  if (choice === 'required' || choice === 'any') return { type: 'any' }
  const name = readToolName(choice)
  if (name === undefined) throw new InvalidRequest('tool_choice', 'names no tool')
  return { type: 'tool', name }
}

function readToolName(tool: unknown): string | undefined {
  const named = member(tool, 'function') ?? member(tool, 'custom') ?? tool
  return asString(member(named, 'name'))
}

/** Throws for a forced tool that is not sent to the model, which could not call it. */
function refuseUnoffered(choice: JsonObject | undefined, tools: readonly JsonObject[]): void {
  if (choice?.type !== 'tool' || tools.some(({ name }) => name === choice.name)) return
  throw new InvalidRequest(
    'tool_choice',
    `'${printValue(choice.name).slice(0, 64)}' is not offered`,
  )
}

/**
 * Returns stand-ins for the tools of earlier calls in a request without tools: the format refuses
 * calls without definitions. None of them can be called.
 */
export function standInTools(turns: readonly MessagesTurn[]): JsonObject {
  const names = new Set<unknown>()
  for (const { content } of turns) {
    for (const { type, name } of content) if (type === 'tool_use') names.add(name)
  }
  if (names.size === 0) return {}
  const tools = [...names].map((name) => ({ name, input_schema: { type: 'object' } }))
  return { tools, tool_choice: { type: 'none' } }
}
