/** Makes a messages body one that a cloud takes (docs/protocols/bedrock.md#request). */
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { stringifyWellFormed } from '../../../base/lib/text/well-formed.ts'
import { parseRequestJson } from '../../dialects/json-scan.ts'
import { spliceJson } from '../../dialects/splice.ts'
import { UpstreamFailure } from '../failure.ts'
import { selectBetas } from './cloud-betas.ts'

interface Options {
  readonly version: string
  /** The header of the caller's betas. */
  readonly betas: unknown
  /** Further betas that the operator lets pass. */
  readonly allowed: readonly string[]
  /** The members that the path says: `model`, and for some `stream`. */
  readonly inPath: readonly string[]
  /** True if the betas are a member of the body. */
  readonly betasInside: boolean
}

const SEARCHES_TOOLS = /^tool_search_tool/

/** Everything else keeps its bytes. */
export function editCloudBody(body: Buffer, options: Options) {
  const { version, allowed, inPath, betasInside } = options
  const parsed = parseRequestJson(body)
  if (!parsed.ok) throw new UpstreamFailure('rejected', { message: parsed.message })
  const { value, fields } = parsed
  const tools = editTools(value)
  const { forwarded, ignored } = selectBetas(value.anthropic_beta ?? options.betas, allowed)
  const keepsBetas = betasInside && forwarded.length > 0
  const edited = spliceJson(body, fields, {
    set: {
      anthropic_version: JSON.stringify(version),
      ...(keepsBetas ? { anthropic_beta: JSON.stringify(forwarded) } : {}),
      ...(tools ? { tools: stringifyWellFormed(tools) } : {}),
    },
    remove: keepsBetas ? inPath : [...inPath, 'anthropic_beta'],
  })
  const names = [...(tools ? ['tools.defer_loading'] : []), ...ignored]
  return { body: edited, betas: forwarded, ignored: names }
}

/**
 * Returns the tools without `defer_loading`, which is an unknown member where no tool searches the
 * others: they are then all loaded. Undefined if there is nothing to change.
 */
function editTools({ tools }: JsonObject): readonly unknown[] | undefined {
  if (!Array.isArray(tools) || !tools.some((tool) => member(tool, 'defer_loading') !== undefined)) {
    return undefined
  }
  const searches = tools.some((tool) => SEARCHES_TOOLS.test(asString(member(tool, 'type')) ?? ''))
  if (searches) return undefined
  return tools.map((tool) => {
    if (!isObject(tool)) return tool
    const { defer_loading: _deferred, ...rest } = tool
    return rest
  })
}
