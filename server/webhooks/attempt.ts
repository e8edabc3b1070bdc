/**
 * One attempt in its stages, each a type of its own: prepared → answered → accepted | refused.
 * Whoever holds an accepted attempt can only have got it by way of the others.
 */

import type { Guard } from '../outbound/guard.ts'
import type { OutboundResult } from '../outbound/request.ts'
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
  /** Null when there was no answer. */
  readonly status: number | null
  readonly latencyMs: number
  /** The beginning of the answer's body. */
  readonly answer: Buffer | null
}

export interface Accepted extends Ended {
  readonly stage: 'accepted'
}

export interface Refused extends Ended {
  /** `lost`: this process stopped before it knew. */
  readonly stage: 'refused' | 'lost'
  /** For the account's owner. */
  readonly error: string
}

const ANSWER_BYTES_KEPT = 1024

export function prepare(claimed: ClaimedRow, secrets: SigningSecrets): Prepared {
  const timestamp = Math.floor(claimed.started_at.getTime() / 1000)
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'Tributary-Webhooks',
    ...signedHeaders(secrets, timestamp, claimed.body),
  }
  return { stage: 'prepared', claimed, headers }
}

/** Never rejects. */
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

/** The status decides, and nothing else of the answer. */
export function judge({ result }: Answered): Accepted | Refused {
  const { latencyMs } = result
  if (result.outcome !== 'answered') {
    const stage = result.outcome === 'stopped' ? 'lost' : 'refused'
    return { stage, status: null, latencyMs, answer: null, error: result.message }
  }
  const { status } = result
  const ended = { status, latencyMs, answer: result.body.subarray(0, ANSWER_BYTES_KEPT) }
  if (status >= 200 && status < 300) return { stage: 'accepted', ...ended }
  const redirect = status >= 300 && status < 400 ? ': redirects are not followed' : ''
  return { stage: 'refused', ...ended, error: `the receiver answered ${status}${redirect}` }
}
