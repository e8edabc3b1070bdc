// Small helpers for untrusted JSON, shared by all vendors' checks.

export type Json = Record<string, unknown>

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isInteger(value: unknown, low: number, high = Number.MAX_SAFE_INTEGER): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= low && value <= high
}

export function isNumber(value: unknown, low: number, high: number): boolean {
  return typeof value === 'number' && value >= low && value <= high
}

export function objects(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Returns the text of content that is either a string or a list of parts. */
export function textOfParts(content: unknown, join = ''): string {
  if (typeof content === 'string') return content
  return objects(content)
    .map((part) => text(part.text))
    .join(join)
}
