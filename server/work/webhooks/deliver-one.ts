/** Runs one claimed delivery attempt: signs, sends and records it. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import type { Log } from '../../base/lib/log.ts'
import type { SecretBox } from '../../base/lib/secrets/secrets.ts'
import type { Guard } from '../../base/outbound/guard.ts'
import { type Accepted, judge, prepare, type Refused, send } from './attempt.ts'
import { type AttemptResult, type ClaimedRow, recordAttempt } from './queue-store.ts'
import { type OnAttempt, reportDeliveryAttempt } from './report-attempt.ts'
import type { SendingLimits } from './schedule.ts'
import { getOrCreateSecret, openSecrets } from './secrets.ts'

export interface DeliverContext {
  readonly sql: Sql
  readonly secrets: SecretBox
  readonly guard: Guard
  readonly log: Log
  readonly onAttempt: OnAttempt
  readonly limits: SendingLimits
  readonly delaysMs: readonly number[]
  /** Returns null to use the database's clock. */
  readonly now: () => Date | null
  /** Aborts the attempt, which then counts as lost. */
  readonly signal: AbortSignal
}

const RECORD_ATTEMPTS_MAX = 10
const RECORD_RETRY_MS = 1_000

/** Sends a delivery and records the outcome. Rejects only when that cannot be recorded. */
export async function deliverOne(claimed: ClaimedRow, context: DeliverContext): Promise<void> {
  await record(claimed, toResult(claimed, await attempt(claimed, context)), context)
}

/** Signs and sends. An unreadable secret fails the attempt, not the process. */
async function attempt(
  claimed: ClaimedRow,
  { sql, secrets, guard, log, limits, signal }: DeliverContext,
): Promise<Accepted | Refused> {
  try {
    const signing = claimed.current
      ? openSecrets(secrets, claimed.account_id, claimed)
      : await getOrCreateSecret(sql, secrets, claimed.account_id)
    return judge(await send(prepare(claimed, signing), guard, limits, signal))
  } catch (error) {
    log.error({ error, delivery_id: claimed.id }, 'a webhook could not be signed')
    const notSent = { status: null, latencyMs: 0, responseHead: null }
    return { stage: 'refused', ...notSent, error: 'the gateway could not sign it' }
  }
}

function toResult(claimed: ClaimedRow, ended: Accepted | Refused): AttemptResult {
  const { id, account_id, number, fence } = claimed
  const { stage: outcome, status, latencyMs, responseHead } = ended
  const error = ended.stage === 'accepted' ? null : ended.error
  return { id, account_id, number, fence, outcome, status, error, latencyMs, responseHead }
}

/** Records a known outcome, with retries: a short database outage must not cause a resend. */
async function record(
  claimed: ClaimedRow,
  result: AttemptResult,
  context: DeliverContext,
): Promise<void> {
  const { sql, log, delaysMs, now } = context
  const delayMs = delaysMs[result.number - 1] ?? null
  for (let number = 1; ; number += 1) {
    try {
      const state = await recordAttempt(sql, result, { delayMs, now: now() })
      if (state) return reportDeliveryAttempt(claimed, { ...result, state }, context)
      return log.warn({ delivery_id: result.id }, 'the lease of a delivery was lost')
    } catch (error) {
      if (number === RECORD_ATTEMPTS_MAX) throw error
      await sleep(RECORD_RETRY_MS)
    }
  }
}
