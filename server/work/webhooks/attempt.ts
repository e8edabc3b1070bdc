/**
 * The stages of one delivery attempt as types: prepared → answered → accepted | refused. Each stage
 * can only be constructed from the previous one.
 */

import type { Guard } from '../../base/outbound/guard.ts'
import type { OutboundResult } from '../../base/outbound/request.ts'
import type { ClaimedRow } from './queue-store.ts'
import type { SendingLimits } from './schedule.ts'
import { type SigningSecrets, signedHeaders } from './sign.ts'

export interface Prepared {
  readonly stage: 'prepared'
  readonly claimed: ClaimedRow
  readonly headers: Readonly<Record<string, string>>
}

export interface Answered {
  readonly stage: 'answered'
  readonly result: OutboundResult
}

interface Ended {
  /** Null without a response. */
  readonly status: number | null
  readonly latencyMs: number
  /** The first bytes of the response body. */
  readonly responseHead: Buffer | null
}

export interface Accepted extends Ended {
  readonly stage: 'accepted'
}

export interface Refused extends Ended {
  /** `lost`: this process stopped before the outcome was known. */
  readonly stage: 'refused' | 'lost'
  /** A text for the account's owner. */
  readonly error: string
}

const RESPONSE_HEAD_BYTES = 1024

/** Builds and signs the request headers. */
export function prepare(claimed: ClaimedRow, secrets: SigningSecrets): Prepared {
  const timestamp = Math.floor(claimed.started_at.getTime() / 1000)
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'Tributary-Webhooks',
    ...signedHeaders(secrets, timestamp, claimed.body),
  }
  return { stage: 'prepared', claimed, headers }
}

/** Sends the request. Never rejects. */
export async function send(
  { claimed, headers }: Prepared,
  guard: Guard,
  limits: SendingLimits,
  signal: AbortSignal,
): Promise<Answered> {
  const { budgetMs, bodyMs, bodyBytesMax } = limits
  const { url, body } = claimed
  const exchange = { url, headers, body, budgetMs, bodyMs, bodyBytesMax, signal }
  return { stage: 'answered', result: await guard.request({ method: 'POST', ...exchange }) }
}

/** Accepts exactly the 2xx statuses; nothing else of the response counts. */
export function judge({ result }: Answered): Accepted | Refused {
  const { latencyMs } = result
  if (result.outcome !== 'answered') {
    const stage = result.outcome === 'stopped' ? 'lost' : 'refused'
    return { stage, status: null, latencyMs, responseHead: null, error: result.message }
  }
  const { status } = result
  const responseHead = result.body.subarray(0, RESPONSE_HEAD_BYTES)
  const ended = { status, latencyMs, responseHead }
  if (status >= 200 && status < 300) return { stage: 'accepted', ...ended }
  const redirect = status >= 300 && status < 400 ? ': redirects are not followed' : ''
  return { stage: 'refused', ...ended, error: `the receiver answered ${status}${redirect}` }
}
