/** Makes a messages body one that Bedrock takes (docs/protocols/bedrock.md#request). */
import { asString, isObject, type JsonObject, member } from '../../../../base/lib/json.ts'
import { stringifyWellFormed } from '../../../../base/lib/text/well-formed.ts'
import { parseRequestJson } from '../../../dialects/json-scan.ts'
import { spliceJson } from '../../../dialects/splice.ts'
import { UpstreamFailure } from '../../failure.ts'
import { selectBetas } from './select-betas.ts'

interface Options {
  readonly version: string
  /** The header of the caller's betas. */
  readonly betas: unknown
  /** Further betas that the operator lets pass. */
  readonly allowed: readonly string[]
}

/** The path says both. */
const IN_PATH = ['model', 'stream']
const SEARCHES_TOOLS = /^tool_search_tool/

/** Everything else keeps its bytes. */
export function editBody(body: Buffer, { version, betas: header, allowed }: Options) {
  const parsed = parseRequestJson(body)
  if (!parsed.ok) throw new UpstreamFailure('rejected', { message: parsed.message })
  const { value, fields } = parsed
  const tools = editTools(value)
  const betas = selectBetas(value.anthropic_beta ?? header, allowed)
  const edited = spliceJson(body, fields, {
    set: {
      anthropic_version: JSON.stringify(version),
      ...(betas.forwarded.length > 0 ? { anthropic_beta: JSON.stringify(betas.forwarded) } : {}),
      ...(tools ? { tools: stringifyWellFormed(tools) } : {}),
    },
    remove: betas.forwarded.length > 0 ? IN_PATH : [...IN_PATH, 'anthropic_beta'],
  })
  return { body: edited, ignored: [...(tools ? ['tools.defer_loading'] : []), ...betas.ignored] }
}

/**
 * Returns the tools without `defer_loading`, which is an unknown member where no tool searches the
 * others: they are then all loaded. Undefined if there is nothing to change.
 */
function editTools({ tools }: JsonObject): readonly unknown[] | undefined {
  if (!Array.isArray(tools) || !tools.some((tool) => member(tool, 'defer_loading') !== undefined)) {
    return undefined
  }
  if (tools.some((tool) => SEARCHES_TOOLS.test(asString(member(tool, 'type')) ?? '')))
    return undefined
  return tools.map((tool) => {
    if (!isObject(tool)) return tool
    const { defer_loading: _deferred, ...rest } = tool
    return rest
  })
}
