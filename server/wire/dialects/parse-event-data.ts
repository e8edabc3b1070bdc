/** The JSON object that an event carries; every dialect of text has one per event. */
import { hasTooManyValues, isObject, type JsonObject } from '../../base/lib/json.ts'
import { isLineEnd } from './frame-filter.ts'
import { readSseFrame, type SseEvent } from './sse.ts'

/** Returns undefined for data that is not a JSON object, or one of too many values. */
export function parseEventData({ data }: SseEvent): JsonObject | undefined {
  // An error of the engine takes several times as long as the parsing of a small event.
  if (!mayBeObject(data) || hasTooManyValues(data)) return undefined
  try {
    const value: unknown = JSON.parse(data)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const OPENING = '{'.charCodeAt(0)
const CLOSING = '}'.charCodeAt(0)

function mayBeObject(data: string): boolean {
  if (data.charCodeAt(0) === OPENING && data.charCodeAt(data.length - 1) === CLOSING) return true
  const trimmed = data.trim()
  return trimmed.startsWith('{') && trimmed.endsWith('}')
}

/** `cut`: the beginning of an object, or a broken one. `noise`: no object, as of a keep-alive. */
export type EventContent = 'object' | 'cut' | 'noise' | 'none'

/**
 * Judges what an event carries by its first and last characters; only where they do not fit is it
 * parsed. The official SDKs fail at an event that they cannot parse.
 */
export function judgeEvent(frame: Buffer): EventContent {
  if (isLineEnd(frame)) return 'none'
  if (OBJECT.test(frame.toString('latin1', 0, HEAD_BYTES)) && endsObject(frame)) return 'object'
  const event = readSseFrame(frame)
  if (!event) return 'none'
  if (parseEventData(event)) return 'object'
  return event.data.trimStart().startsWith('{') ? 'cut' : 'noise'
}

const HEAD_BYTES = 128
const OBJECT = /^(?:event: ?[\w.]+\r?\n)?data: ?\{/

/** White space of which an event has no more behind its object: an empty line, for example. */
const SPACES_MAX = 7
const BRACE = 0x7d

/** Returns true for an event whose last byte, apart from white space, is that of an object. */
export function endsObject(frame: Buffer): boolean {
  let at = frame.length - 1
  for (let spaces = 0; spaces < SPACES_MAX && isSpace(frame[at] ?? 0); spaces += 1) at -= 1
  return frame[at] === BRACE
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)
}
