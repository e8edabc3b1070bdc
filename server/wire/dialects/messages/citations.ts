/**
 * Turns the sources that a vendor cites into annotations. A block of text is cited as a whole; an
 * annotation names the span of its code points in the text of all blocks.
 */
import { asString, type JsonObject, member } from '../../../base/lib/json.ts'
import { countCodePoints } from '../../../base/lib/text/count-code-points.ts'

export class Citations {
  private start = 0
  private text = ''
  /** Titles of the open block's sources, by address. */
  private readonly sources = new Map<string, string>()

  addText(text: string): void {
    this.text += text
  }

  /** Other citations are of the caller's own documents, for which chat has no annotation. */
  add(citation: unknown): void {
    const url = asString(member(citation, 'url'))
    if (!url || member(citation, 'type') !== 'web_search_result_location') return
    this.sources.set(url, asString(member(citation, 'title')) || url)
  }

  addAll(citations: unknown): void {
    if (!Array.isArray(citations)) return
    for (const citation of citations) this.add(citation)
  }

  /** Ends the block. Returns an annotation for each of its sources. */
  endBlock(): JsonObject[] {
    const start = this.start
    const end = start + countCodePoints(this.text)
    const annotations = [...this.sources].map(([url, title]) => ({
      type: 'url_citation',
      url_citation: { start_index: start, end_index: end, url, title },
    }))
    this.start = end
    this.text = ''
    this.sources.clear()
    return annotations
  }
}
