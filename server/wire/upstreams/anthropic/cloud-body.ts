/** Converts a messages body to one that a cloud accepts (docs/protocols/bedrock.md#request). */
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { stringifyWellFormed } from '../../../base/lib/text/well-formed.ts'
import { parseRequestJson } from '../../dialects/request-json/parse.ts'
import { spliceJson } from '../../dialects/splice.ts'
import { UpstreamFailure } from '../failure.ts'
import { nameBetas } from './betas.ts'

interface Options {
  readonly version: string
  /** The header of the caller's betas. */
  readonly betas: unknown
  /** Further betas that the operator lets pass. */
  readonly allowed: readonly string[]
  /** The members that are in the path instead: `model`, and for some clouds `stream`. */
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

/** Whole values, as the vendor compares them (docs/protocols/bedrock.md#betas). */
const TAKEN: ReadonlySet<string> = new Set([
  'claude-code-20250219',
  'computer-use-2024-10-22',
  'computer-use-2025-01-24',
  'computer-use-2025-11-24',
  'context-1m-2025-08-07',
  'context-management-2025-06-27',
  'effort-2025-11-24',
  'fine-grained-tool-streaming-2025-05-14',
  'interleaved-thinking-2025-05-14',
  'output-128k-2025-02-19',
  'structured-outputs-2025-12-15',
  'token-efficient-tools-2025-02-19',
  'tool-examples-2025-10-29',
  'tool-search-tool-2025-10-19',
])
const TAKEN_FAMILY = /^dev-full-thinking-\d{4}-\d{2}-\d{2}$/
/** The vendor's own API has a single beta where clouds have two. */
const BY_ANOTHER_NAME: ReadonlyMap<string, readonly string[]> = new Map([
  ['advanced-tool-use-2025-11-20', ['tool-search-tool-2025-10-19', 'tool-examples-2025-10-29']],
])

/** `stated` is a header with commas, or the body's list. */
function selectBetas(stated: unknown, allowed: readonly string[]) {
  const list = typeof stated === 'string' ? stated.split(',') : Array.isArray(stated) ? stated : []
  const values = list.flatMap((value) => (typeof value === 'string' ? [value.trim()] : []))
  const forwarded = new Set<string>()
  const ignored = new Set<string>()
  for (const value of values.filter((one) => one !== '')) {
    const isTaken = TAKEN.has(value) || TAKEN_FAMILY.test(value) || allowed.includes(value)
    const names = isTaken ? [value] : BY_ANOTHER_NAME.get(value)
    if (names) for (const name of names) forwarded.add(name)
    else ignored.add(value)
  }
  return { forwarded: [...forwarded], ignored: nameBetas({ ignored: [...ignored] }) }
}
