/** The 404 of the admin API, identical for foreign, unknown and malformed ids. */
import { GatewayError } from '../../base/lib/errors.ts'

export function noSuch(noun: string): GatewayError {
  return new GatewayError('not_found', { message: `no such ${noun}` })
}

/** Returns the row. Throws 404 if it is undefined. */
export function found<T>(row: T | undefined, noun: string): T {
  if (row === undefined) throw noSuch(noun)
  return row
}
