/** The JSON object that an event carries; every dialect of text has one per event. */
import { isObject, type JsonObject } from '../lib/json.ts'
import type { SseEvent } from './sse.ts'

/** Returns undefined for data that is not a JSON object. */
export function parseEventData({ data }: SseEvent): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(data)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
