/** The caller's key for a request, which makes repeating it safe. */
import type { IncomingHttpHeaders } from 'node:http'
import { GatewayError } from '../lib/errors.ts'

const SHAPE = /^[\x21-\x7e]{1,255}$/

/** Returns undefined without the header. Throws 400 for an invalid one. */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key === 'string' && SHAPE.test(key)) return key
  throw new GatewayError('invalid_request', {
    message: 'Idempotency-Key: must be 1 to 255 visible ASCII characters',
  })
}
