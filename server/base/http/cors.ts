/**
 * Lets pages of other origins call the public API. Credentials are never allowed: callers
 * authenticate with a key, and no cookie counts here.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { RATE_HEADERS } from './rate-headers.ts'

/** The origins that may call; `*` is any. */
export type AllowedOrigins = '*' | ReadonlySet<string>

/** Headers of responses that pages may read, beyond those that every page may. */
const EXPOSED = [
  'x-request-id',
  'x-client-request-id',
  'request-id',
  'retry-after',
  'x-should-retry',
  'idempotent-replayed',
  'x-tributary-model',
  'x-tributary-charge',
  'x-tributary-charge-basis',
  'server-timing',
  'allow',
  'accept-encoding',
  'accept-ranges',
  'content-disposition',
  'content-range',
  'etag',
  ...RATE_HEADERS,
].join(', ')

/** Two hours, the longest that browsers keep the result of a preflight. */
const PREFLIGHT_SECONDS = '7200'

const HEADER_NAMES = /^[\w!#$%&'*+.^`|~, -]{1,4096}$/

/** Returns the headers that every response of a route with these origins has. */
export function corsHeaders(
  origins: AllowedOrigins,
  { origin }: IncomingHttpHeaders,
): Record<string, string> {
  const vary: Record<string, string> = origins === '*' ? {} : { vary: 'origin' }
  if (origin === undefined || !isAllowed(origins, origin)) return vary
  return {
    ...vary,
    'access-control-allow-origin': origins === '*' ? '*' : origin,
    'access-control-expose-headers': EXPOSED,
  }
}

/** Returns the method that a page wants to use; undefined if the request is no preflight. */
export function preflightMethod({ method, headers }: IncomingMessage): string | undefined {
  if (method !== 'OPTIONS' || headers.origin === undefined) return undefined
  return headers['access-control-request-method']
}

/** Returns the further headers of a preflight's response; undefined if the page may not call. */
export function preflightHeaders(
  origins: AllowedOrigins | undefined,
  { headers }: IncomingMessage,
): Record<string, string> | undefined {
  const { origin = '', 'access-control-request-method': method = '' } = headers
  if (origins === undefined || !isAllowed(origins, origin)) return undefined
  // SDKs send headers of their own, so all are allowed.
  const names = headers['access-control-request-headers'] ?? ''
  return {
    'access-control-allow-methods': method,
    ...(HEADER_NAMES.test(names) ? { 'access-control-allow-headers': names } : {}),
    'access-control-max-age': PREFLIGHT_SECONDS,
  }
}

function isAllowed(origins: AllowedOrigins, origin: string): boolean {
  return origins === '*' || origins.has(origin)
}
