/** Translates tools, the choice among them, and a search that the vendor runs. */
import { isAbsent, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { listIgnoredSearch } from '../chat-over-messages/translate-search.ts'
import { translateChatTools } from '../chat-over-messages/translate-tools.ts'
import { InvalidRequest } from '../invalid-request.ts'
import { DEFAULT_MESSAGES_QUIRKS } from '../messages/quirks.ts'

export interface ContentsTools {
  /** `tools` and `toolConfig`; each is absent if empty. */
  readonly members: JsonObject
  readonly hasFunctions: boolean
  readonly searches: boolean
  readonly ignored: readonly string[]
}

/** Throws for a search if the channel's model has no price for it. */
export function translateTools(request: JsonObject, sellsSearch: boolean): ContentsTools {
  const { web_search_options: search, ...others } = request
  const offered = translateChatTools(others, DEFAULT_MESSAGES_QUIRKS)
  const functions: readonly unknown[] = Array.isArray(offered.tools) ? offered.tools : []
  const hasFunctions = functions.length > 0
  if (!isAbsent(search) && !sellsSearch) {
    throw new InvalidRequest('web_search_options', 'this model does not search')
  }
  // Search and functions together require parts that clients of other dialects cannot return.
  const searches = !isAbsent(search) && !hasFunctions && request.tool_choice !== 'none'
  const declared = { functionDeclarations: functions.map(declare) }
  const tools = [...(hasFunctions ? [declared] : []), ...(searches ? [{ googleSearch: {} }] : [])]
  const config = hasFunctions ? readConfig(offered.tool_choice, functions) : undefined
  return {
    members: {
      ...(tools.length > 0 ? { tools } : {}),
      ...(config ? { toolConfig: { functionCallingConfig: config } } : {}),
    },
    hasFunctions,
    searches,
    ignored: [
      ...(request.parallel_tool_calls === false && hasFunctions ? ['parallel_tool_calls'] : []),
      ...(searches ? listLost(request) : isAbsent(search) ? [] : ['web_search_options']),
    ],
  }
}

/** The format has no limits for a search. */
function listLost(request: JsonObject): string[] {
  const { web_search_options: options } = request
  const lost = ['filters', 'user_location', 'max_uses'].filter((name) => {
    return !isAbsent(member(options, name))
  })
  return [...listIgnoredSearch(request), ...lost.map((name) => `web_search_options.${name}`)]
}

/**
 * A function without parameters is sent without a schema, because the vendor refuses an empty one.
 */
function declare(tool: unknown): JsonObject {
  const [name, description] = [member(tool, 'name'), member(tool, 'description')]
  const schema = member(tool, 'input_schema')
  const properties = member(schema, 'properties')
  const isEmpty = isObject(properties) && Object.keys(properties).length === 0
  return {
    name,
    ...(description ? { description } : {}),
    ...(isEmpty ? {} : { parametersJsonSchema: schema }),
  }
}

function readConfig(choice: unknown, functions: readonly unknown[]): JsonObject | undefined {
  switch (member(choice, 'type')) {
    case 'any':
      return { mode: 'ANY' }
    case 'tool':
      return { mode: 'ANY', allowedFunctionNames: [member(choice, 'name')] }
    case 'none':
      return { mode: 'NONE' }
    default:
      return functions.some((one) => member(one, 'strict') === true)
        ? { mode: 'VALIDATED' }
        : undefined
  }
}
