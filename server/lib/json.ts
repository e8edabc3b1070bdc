/** Access to JSON values of unknown shape. */

export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns an object's own member, or undefined for any other value. */
export function member(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

const BYTE_ORDER_MARK = '\uFEFF'

/** Parses JSON with or without a byte order mark. Returns undefined for invalid JSON. */
export function tryParseJson(bytes: Buffer): unknown {
  const text = bytes.toString('utf8')
  try {
    return JSON.parse(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text)
  } catch {
    return undefined
  }
}
