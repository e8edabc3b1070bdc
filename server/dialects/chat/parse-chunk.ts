/** What one event of a chat stream is: a chunk, the end, or an error in any of its forms. */
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { SseEvent } from '../sse.ts'
import { type ReportedError, readChatError, UPSTREAM_ERROR } from './read-error.ts'

export type ChatEvent =
  | { readonly kind: 'chunk'; readonly document: JsonObject }
  | { readonly kind: 'done' }
  | { readonly kind: 'error'; readonly error: ReportedError; readonly document?: JsonObject }

/** An event that cannot be read is an error: to skip it would lose a part of the answer. */
export function parseChunk({ event, data }: SseEvent): ChatEvent {
  if (data.trim() === '[DONE]') return { kind: 'done' }
  const document = parseObject(data)
  if (!document) return { kind: 'error', error: UPSTREAM_ERROR }
  const given = event === 'error' ? { error: document.error ?? document } : document
  const error = readChatError(given)
  if (!error) return { kind: 'chunk', document }
  return event === 'error' ? { kind: 'error', error } : { kind: 'error', error, document }
}

function parseObject(data: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(data)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
