/** Reads the searches that the vendor runs, whose queries come in pieces. */
import { asString, type JsonObject, member, tryParseJson } from '../../../base/lib/json.ts'
import type { SearchPart } from '../parts/part.ts'

export class SearchReader {
  /** Blocks of searches that are open, with their arguments, by index. */
  private readonly open = new Map<unknown, { readonly block: JsonObject; text: string }>()

  /** Returns the end of a search if the block is one. */
  startBlock(index: unknown, block: JsonObject): SearchPart | undefined {
    const { type, name, tool_use_id: id, content } = block
    if (type === 'server_tool_use' && name === 'web_search') {
      this.open.set(index, { block, text: '' })
    }
    if (type !== 'web_search_tool_result') return undefined
    if (!Array.isArray(content)) return { kind: 'search', id, status: 'failed', urls: [] }
    const urls = content.map((result) => asString(member(result, 'url')) ?? '').filter(Boolean)
    return { kind: 'search', id, status: 'completed', urls }
  }

  addArguments(index: unknown, text: string): void {
    const search = this.open.get(index)
    if (search) search.text += text
  }

  /** Returns the beginning of a search if the block that ends is one. */
  endBlock(index: unknown): SearchPart | undefined {
    const search = this.open.get(index)
    this.open.delete(index)
    if (!search) return undefined
    const { block, text } = search
    const input = text === '' ? block.input : tryParseJson(Buffer.from(text))
    return { kind: 'search', id: block.id, query: asString(member(input, 'query')) ?? '' }
  }
}
