/**
 * Reads the searches that the vendor runs, for a further translation: `{id, query}` where one
 * begins, `{id, status, sources}` where it ends.
 */
import { asString, isObject, type JsonObject, member, tryParseJson } from '../../lib/json.ts'

function readSearchStart(block: JsonObject, arguments_ = ''): JsonObject | undefined {
  if (block.type !== 'server_tool_use' || block.name !== 'web_search') return undefined
  const input = arguments_ === '' ? block.input : tryParseJson(Buffer.from(arguments_))
  return { id: block.id, query: asString(member(input, 'query')) ?? '' }
}

function readSearchEnd(block: JsonObject): JsonObject | undefined {
  if (block.type !== 'web_search_tool_result') return undefined
  const { tool_use_id: id, content } = block
  if (!Array.isArray(content)) return { id, status: 'failed', sources: [] }
  const sources = content.map((result) => asString(member(result, 'url'))).filter(Boolean)
  return { id, status: 'completed', sources }
}

/** Returns the searches of a whole message. */
export function readSearches(blocks: readonly JsonObject[]): JsonObject[] {
  const searches = blocks.map((block) => readSearchStart(block) ?? readSearchEnd(block))
  return searches.filter((search) => search !== undefined)
}

/** Reads the searches of a stream, whose queries come in pieces. */
export class SearchReader {
  /** Blocks of searches that are open, with their arguments, by index. */
  private readonly open = new Map<unknown, { readonly block: JsonObject; text: string }>()

  /** Returns the end of a search if the block is one. */
  startBlock(index: unknown, block: unknown): JsonObject | undefined {
    if (!isObject(block)) return undefined
    if (block.type === 'server_tool_use') this.open.set(index, { block, text: '' })
    return readSearchEnd(block)
  }

  addArguments(index: unknown, text: string): void {
    const search = this.open.get(index)
    if (search) search.text += text
  }

  /** Returns the beginning of a search if the block that ends is one. */
  endBlock(index: unknown): JsonObject | undefined {
    const search = this.open.get(index)
    this.open.delete(index)
    return search && readSearchStart(search.block, search.text)
  }
}
