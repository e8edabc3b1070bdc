/** Sources of an answer that rests on a search (docs/protocols/google.md#grounding). */
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { readCount } from '../usage/read-count.ts'

/** A support may name each source again: many times the bytes that came. */
const SOURCES_MAX = 1_000

interface Source {
  readonly url: string
  readonly title: string
}

/** Returns an annotation for each passage and each of its sources. */
export function annotate(metadata: JsonObject, text: string): JsonObject[] {
  const { groundingChunks: chunks, groundingSupports: supports } = metadata
  if (!Array.isArray(chunks) || !Array.isArray(supports)) return []
  const sources = chunks.map(readSource)
  const found: { readonly segment: JsonObject; readonly source: Source }[] = []
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
  const toPoints = countPoints(
    text,
    found.flatMap(({ segment }) => [startOf(segment), endOf(segment)]),
  )
  return found.map(({ segment, source }) => ({
    type: 'url_citation',
    url_citation: {
      start_index: toPoints(startOf(segment)),
      end_index: toPoints(endOf(segment)),
      ...source,
      ...(asString(segment.text) ? { content: segment.text } : {}),
    },
  }))
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
