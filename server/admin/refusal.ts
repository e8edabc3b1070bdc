/** The 404 of the admin API: foreign, unknown and malformed ids read alike. */
import { GatewayError } from '../lib/errors.ts'

export function noSuch(what: string): GatewayError {
  return new GatewayError('not_found', { message: `no such ${what}` })
}

/** The row, or a 404. */
export function found<T>(row: T | undefined, what: string): T {
  if (row === undefined) throw noSuch(what)
  return row
}
