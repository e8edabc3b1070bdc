/** Parses the `Range` header of a download, so that a browser can seek. */

export interface Slice {
  readonly start: number
  /** Inclusive. */
  readonly end: number
}

/**
 * Returns the requested slice, or undefined for the whole file: without the header, and for any
 * value but a single byte range, which RFC 9110 lets a server ignore. `unsatisfiable` means a 416.
 */
export function readRange(
  header: string | undefined,
  length: number,
): Slice | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '')
  if (!match) return undefined
  const [, first = '', last = ''] = match
  if (first === '' && last === '') return undefined
  if (first === '') {
    if (Number(last) === 0) return 'unsatisfiable'
    return { start: Math.max(0, length - Number(last)), end: length - 1 }
  }
  const start = Number(first)
  const end = last === '' ? length - 1 : Math.min(length - 1, Number(last))
  if (start >= length) return 'unsatisfiable'
  return start > end ? undefined : { start, end }
}
