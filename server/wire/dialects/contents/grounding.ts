/** Sources of an answer: of searches, and quoted works (docs/protocols/google.md#grounding). */
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { readCount } from '../usage/read-count.ts'

/**
 * The limit of annotations: each support may name every source again, which would multiply the
 * bytes that arrived.
 */
const SOURCES_MAX = 1_000

interface Source {
  readonly url: string
  readonly title: string
  readonly license?: string
}

interface Passage {
  readonly segment: JsonObject
  readonly source: Source
}

/** Returns an annotation for each passage and each of its sources. */
export function annotate(passages: readonly Passage[], text: string): JsonObject[] {
  const toPoints = countPoints(
    text,
    passages.flatMap(({ segment }) => [startOf(segment), endOf(segment)]),
  )
  return passages.map(({ segment, source }) => ({
    type: 'url_citation',
    url_citation: {
      start_index: toPoints(startOf(segment)),
      end_index: toPoints(endOf(segment)),
      ...source,
      ...(asString(segment.text) ? { content: segment.text } : {}),
    },
  }))
}

/** Returns the passages that rest on a search. */
export function readSupports(metadata: JsonObject): readonly Passage[] {
  const { groundingChunks: chunks, groundingSupports: supports } = metadata
  if (!Array.isArray(chunks) || !Array.isArray(supports)) return []
  const sources = chunks.map(readSource)
  const found: Passage[] = []
  for (const support of supports) {
    const [segment, indices] = [
      member(support, 'segment'),
      member(support, 'groundingChunkIndices'),
    ]
    if (!isObject(segment) || !Array.isArray(indices)) continue
    for (const index of indices) {
      const source = sources[Number(index)]
      if (source && found.length < SOURCES_MAX) found.push({ segment, source })
    }
  }
  return found
}

/** Passages that quote a work, over all pieces of an answer: a piece may repeat earlier ones. */
export class QuotedPassages {
  private readonly found = new Map<string, Passage>()

  /** `citationSources`, or `citations` on Vertex AI. */
  read(metadata: unknown): void {
    const stated = member(metadata, 'citationSources') ?? member(metadata, 'citations')
    for (const segment of Array.isArray(stated) ? stated : []) {
      const url = asString(member(segment, 'uri'))
      if (!isObject(segment) || !url || this.found.size >= SOURCES_MAX) continue
      const license = asString(segment.license)
      const title = asString(segment.title) || url
      const source = { url, title, ...(license ? { license } : {}) }
      this.found.set(`${startOf(segment)} ${endOf(segment)} ${url}`, { segment, source })
    }
  }

  list(): readonly Passage[] {
    return [...this.found.values()]
  }
}

/** Returns the addresses of all sources. */
export function listSources({ groundingChunks: chunks }: JsonObject): readonly string[] {
  if (!Array.isArray(chunks)) return []
  return chunks.flatMap((chunk) => readSource(chunk)?.url ?? [])
}

function readSource(chunk: unknown): Source | undefined {
  const place = member(chunk, 'web') ?? member(chunk, 'image') ?? member(chunk, 'maps')
  const url = asString(member(place, 'uri')) || asString(member(place, 'sourceUri'))
  return url ? { url, title: asString(member(place, 'title')) || url } : undefined
}

const startOf = ({ startIndex }: JsonObject) => readCount(startIndex) ?? 0
const endOf = ({ endIndex }: JsonObject) => readCount(endIndex) ?? 0

/** Spans count UTF-8 bytes, annotations code points. Reads the text once. */
function countPoints(text: string, offsets: readonly number[]): (offset: number) => number {
  const bytes = Buffer.from(text)
  const points = new Map<number, number>()
  let at = 0
  let count = 0
  for (const offset of [...new Set(offsets)].sort((left, right) => left - right)) {
    for (; at < offset && at < bytes.length; at += 1) {
      if (((bytes[at] ?? 0) & 0xc0) !== 0x80) count += 1
    }
    points.set(offset, count)
  }
  return (offset) => points.get(offset) ?? 0
}
