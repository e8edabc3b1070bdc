/**
 * Headers that state what is left of the caller's rate limits, in the form that the vendors' SDKs
 * read.
 */
import type { Envelope } from './envelope.ts'

const KINDS = ['requests', 'tokens'] as const

/** The rest of a limit per minute. */
interface Rate {
  readonly limit: number
  readonly remaining: number
  /** Milliseconds until the whole limit is free again. */
  readonly resetMs: number
}

/** Absent where nothing limits it. */
export interface KnownRates {
  readonly requests?: Rate
  readonly tokens?: Rate
  /** Date.now() when they were known. */
  readonly atMs: number
}

/** The header that real SDKs of the messages dialect look for. */
const MESSAGES_PREFIX = 'anthropic-ratelimit-'
/** Tokens of both kinds count towards one limit. */
const MESSAGES_NAMES = {
  requests: ['requests'],
  tokens: ['tokens', 'input-tokens', 'output-tokens'],
} as const

/**
 * Returns `anthropic-ratelimit-*` for the messages dialect and `x-ratelimit-*` for others, of the
 * limits that are set. The native and the admin API have none.
 */
export function rateHeaders(
  rates: KnownRates,
  envelope: Envelope,
  nowMs: number,
): Record<string, string> {
  const headers: Record<string, string> = {}
  if (envelope === 'native' || envelope === 'admin') return headers
  for (const kind of KINDS) {
    const rate = rates[kind]
    if (!rate) continue
    const { limit, remaining, resetMs } = rate
    const resetsAtMs = rates.atMs + resetMs
    if (envelope === 'messages') {
      for (const name of MESSAGES_NAMES[kind]) {
        headers[`${MESSAGES_PREFIX}${name}-limit`] = String(limit)
        headers[`${MESSAGES_PREFIX}${name}-remaining`] = String(remaining)
        headers[`${MESSAGES_PREFIX}${name}-reset`] = printTime(resetsAtMs)
      }
    } else {
      headers[`x-ratelimit-limit-${kind}`] = String(limit)
      headers[`x-ratelimit-remaining-${kind}`] = String(remaining)
      headers[`x-ratelimit-reset-${kind}`] = printDuration(Math.max(0, resetsAtMs - nowMs))
    }
  }
  return headers
}

/** RFC 3339 in whole seconds, rounded up. */
function printTime(atMs: number): string {
  return new Date(Math.ceil(atMs / 1000) * 1000).toISOString().replace('.000Z', 'Z')
}

/** As `1m0s`, `59.873s` or `120ms`. */
export function printDuration(milliseconds: number): string {
  const whole = Math.ceil(milliseconds)
  if (whole < 1000) return `${whole}ms`
  const minutes = Math.floor(whole / 60_000)
  return `${minutes > 0 ? `${minutes}m` : ''}${(whole - minutes * 60_000) / 1000}s`
}

const ANY: Rate = { limit: 1, remaining: 1, resetMs: 1 }

/** Returns the names of the headers that responses of this form may have. */
export function rateHeaderNames(envelope: Envelope): readonly string[] {
  return Object.keys(rateHeaders({ atMs: 0, requests: ANY, tokens: ANY }, envelope, 0))
}

/** The names in any form. */
export const RATE_HEADERS: readonly string[] = [
  ...rateHeaderNames('nested'),
  ...rateHeaderNames('messages'),
]
