/** Removes private details from errors inside answers that otherwise pass unchanged. */

import { isObject, tryParseJson, writeJson } from '../../base/lib/json.ts'
import { type IsCallersText, redactInStrings } from '../../base/lib/text/redact-internals.ts'
import { encodeSseEvent, readSseFrame } from './sse.ts'

/**
 * Removes the vendor's addresses, paths and keys from a document's `error` and that of its
 * `response`, or from a whole document that is an error. Returns the same object if it has none.
 */
function hideInErrors(document: unknown, known?: IsCallersText): unknown {
  if (!isObject(document)) return document
  if (document.type === 'error' || document.object === 'error') {
    return redactInStrings(document, known)
  }
  const error = redactInStrings(document.error, known)
  const response = hideInErrors(document.response, known)
  if (error === document.error && response === document.response) return document
  return {
    ...document,
    ...('error' in document ? { error } : {}),
    ...('response' in document ? { response } : {}),
  }
}

/** Hides details in the body of an answer; returns the same bytes if nothing is hidden. */
export function hideInBody(body: Buffer, known?: IsCallersText): Buffer {
  const document = tryParseJson(body)
  const shown = hideInErrors(document, known)
  return shown === document ? body : Buffer.from(writeJson(shown))
}

/** Hides details in one event of a stream. */
export function hideInFrame(frame: Buffer): Buffer {
  const event = readSseFrame(frame)
  if (!event) return frame
  const document = tryParseJson(Buffer.from(event.data))
  const isError = event.event === 'error' && isObject(document)
  const shown = isError ? redactInStrings(document) : hideInErrors(document)
  if (shown === document) return frame
  const name = event.event === 'message' ? undefined : event.event
  return Buffer.from(encodeSseEvent(name, writeJson(shown)))
}
