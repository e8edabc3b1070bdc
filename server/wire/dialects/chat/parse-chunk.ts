/** Parses an event of a chat stream: a chunk, the end, or an error in any of its forms. */
import type { JsonObject } from '../../../base/lib/json.ts'
import { parseEventData } from '../parse-event-data.ts'
import { type ReportedError, UPSTREAM_ERROR } from '../reported-error.ts'
import type { SseEvent } from '../sse.ts'
import { readChatError } from './read-error.ts'

export type ChatEvent =
  | { readonly kind: 'chunk'; readonly document: JsonObject }
  | { readonly kind: 'done' }
  | { readonly kind: 'error'; readonly error: ReportedError; readonly document?: JsonObject }

/** An event that cannot be read is an error: to skip it would lose a part of the answer. */
export function parseChunk(event: SseEvent): ChatEvent {
  if (event.data.trim() === '[DONE]') return { kind: 'done' }
  const document = parseEventData(event)
  if (!document) return { kind: 'error', error: UPSTREAM_ERROR }
  const envelope = event.event === 'error' ? { error: document.error ?? document } : document
  const error = readChatError(envelope)
  if (!error) return { kind: 'chunk', document }
  return event.event === 'error' ? { kind: 'error', error } : { kind: 'error', error, document }
}
