/** The request of a task whose recording is converted first, as it is stored for the worker. */
import { isObject, type JsonObject, tryParseJson } from '../../base/lib/json.ts'

export interface StoredConversion {
  /** The parameters with the address of the recording, validated and inspected. */
  readonly parameters: JsonObject
  /** The names that the caller sent. */
  readonly sent: readonly string[]
}

export function encodeConversion(
  parameters: JsonObject,
  value: Readonly<Record<string, unknown>>,
): Buffer {
  const stored: StoredConversion = { parameters, sent: Object.keys(value) }
  return Buffer.from(JSON.stringify(stored))
}

/** Returns undefined for a body of another kind. */
export function decodeConversion(body: Buffer): StoredConversion | undefined {
  const stored = tryParseJson(body)
  if (!isObject(stored) || !isObject(stored.parameters) || !Array.isArray(stored.sent)) {
    return undefined
  }
  return { parameters: stored.parameters, sent: stored.sent.map(String) }
}
