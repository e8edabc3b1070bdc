/** Reads sentences of either service into the neutral form: speaker, text, start and end. */
import { isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { readDecimal } from '../usage/read-count.ts'

export interface RecognisedSentence {
  readonly start_ms: number
  readonly end_ms: number
  readonly speaker: string
  readonly text: string
  readonly words?: readonly Word[]
}

interface Word {
  readonly text: string
  readonly start_ms: number
  readonly end_ms: number
}

/** Milliseconds as a number or a numeric string, rounded; 0 where the time is unknown (-1). */
export function readTimeMs(value: unknown): number {
  const ms = typeof value === 'string' ? Number(value) : value
  return typeof ms === 'number' && Number.isFinite(ms) && ms > 0 ? Math.round(ms) : 0
}

/**
 * A stated length in milliseconds, as a number or a numeric string. Undefined for anything else,
 * and for zero beside sentences: words take time.
 */
export function readDurationMs(
  value: unknown,
  sentences: readonly RecognisedSentence[],
): number | undefined {
  const ms = readDecimal(value) ?? -1
  return ms > 0 || (ms === 0 && lastEndMs(sentences) === 0) ? ms : undefined
}

export function readPlainText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function listObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** Reads a sentence of the minutes product (`content`, `speaker.id`) or of recognition (`text`). */
export function readSentence(item: JsonObject): RecognisedSentence {
  const words = listObjects(item.words).map((word) => ({
    text: readPlainText(word.text),
    start_ms: readTimeMs(word.start_time),
    end_ms: readTimeMs(word.end_time),
  }))
  return {
    start_ms: readTimeMs(item.start_time),
    end_ms: readTimeMs(item.end_time),
    speaker: readPlainText(member(item.speaker, 'id') ?? member(item.additions, 'speaker')),
    text: readPlainText(item.content ?? item.text),
    ...(words.length > 0 ? { words } : {}),
  }
}

const SPACELESS = /[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]/

/** Joins the texts, with a space except after Chinese. */
export function joinSentences(sentences: readonly RecognisedSentence[]): string {
  let text = ''
  let last = ''
  for (const sentence of sentences) {
    const added = (last === '' || SPACELESS.test(last) ? '' : ' ') + sentence.text
    text += added
    last = added.at(-1) ?? last
  }
  return text
}

export function lastEndMs(parts: readonly { readonly end_ms: number }[]): number {
  return parts.reduce((most, { end_ms: endMs }) => Math.max(most, endMs), 0)
}
