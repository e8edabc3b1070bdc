/** The one range of a file that a client asked for, so that a browser can seek. */

export interface Slice {
  readonly start: number
  /** Included. */
  readonly end: number
}

/**
 * Undefined for the whole file: without the header, and with one that is not a single range of
 * bytes, which RFC 9110 lets a server ignore. `unsatisfiable` is for 416.
 */
export function readRange(
  header: string | undefined,
  length: number,
): Slice | 'unsatisfiable' | undefined {
  const found = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '')
  if (!found) return undefined
  const [, first = '', last = ''] = found
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
