/** The JSON object that an event carries; every dialect of text has one per event. */
import { isObject, type JsonObject } from '../../base/lib/json.ts'
import { readSseFrame, type SseEvent } from './sse.ts'

/** Returns undefined for data that is not a JSON object. */
export function parseEventData({ data }: SseEvent): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(data)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** `cut`: the beginning of an object, or a broken one. `noise`: no object, as of a keep-alive. */
export type EventContent = 'object' | 'cut' | 'noise' | 'none'

/**
 * Judges what an event carries by its first and last characters; only where they do not fit is it
 * parsed. The official SDKs fail at an event that they cannot parse.
 */
export function judgeEvent(frame: Buffer): EventContent {
  if (OBJECT.test(frame.toString('latin1', 0, HEAD_BYTES)) && endsObject(frame)) return 'object'
  const event = readSseFrame(frame)
  if (!event) return 'none'
  if (parseEventData(event)) return 'object'
  return event.data.trimStart().startsWith('{') ? 'cut' : 'noise'
}

const HEAD_BYTES = 128
const OBJECT = /^(?:event: ?[\w.]+\r?\n)?data: ?\{/

function endsObject(frame: Buffer): boolean {
  return /\}\s*$/.test(frame.toString('latin1', Math.max(0, frame.length - 8)))
}
