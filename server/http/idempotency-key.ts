/** The caller's own name of a request, under which it may be repeated without being done twice. */
import type { IncomingHttpHeaders } from 'node:http'
import { GatewayError } from '../lib/errors.ts'

const SHAPE = /^[\x21-\x7e]{1,255}$/

/** Undefined without the header. Throws 400 for one that names nothing. */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key === 'string' && SHAPE.test(key)) return key
  throw new GatewayError('invalid_request', {
    message: 'Idempotency-Key: 1 to 255 visible ASCII characters',
  })
}
