/** One claimed attempt from its signature to its record. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import type { Log } from '../lib/log.ts'
import type { SecretBox } from '../lib/secrets/secrets.ts'
import type { Guard } from '../outbound/guard.ts'
import { type Accepted, judge, prepare, type Refused, send } from './attempt.ts'
import { type AttemptResult, type ClaimedRow, recordAttempt } from './queue-store.ts'
import type { SendingLimits } from './schedule.ts'
import { openSecrets, viewSecret } from './secrets.ts'

export interface DeliverContext {
  readonly sql: Sql
  readonly secrets: SecretBox
  readonly guard: Guard
  readonly log: Log
  readonly limits: SendingLimits
  readonly delaysMs: readonly number[]
  /** Null for the database's clock. */
  readonly now: () => Date | null
  /** Cuts the attempt, which then counts as lost. */
  readonly signal: AbortSignal
}

const RECORD_TRIES = 10
const RECORD_PAUSE_MS = 1_000

/** Sends it and writes down how it went. Rejects only when that cannot be written. */
export async function deliverOne(claimed: ClaimedRow, context: DeliverContext): Promise<void> {
  await record(toResult(claimed, await perform(claimed, context)), context)
}

/** A secret that cannot be opened is our fault and fails the attempt, not the process. */
async function perform(
  claimed: ClaimedRow,
  { sql, secrets, guard, log, limits, signal }: DeliverContext,
): Promise<Accepted | Refused> {
  try {
    const signing = claimed.current
      ? openSecrets(secrets, claimed.account_id, claimed)
      : await viewSecret(sql, secrets, claimed.account_id)
    return judge(await send(prepare(claimed, signing), guard, limits, signal))
  } catch (error) {
    log.error({ error, delivery_id: claimed.id }, 'a webhook could not be signed')
    const nothing = { status: null, latencyMs: 0, answer: null }
    return { stage: 'refused', ...nothing, error: 'the gateway could not sign it' }
  }
}

function toResult(claimed: ClaimedRow, ended: Accepted | Refused): AttemptResult {
  const { id, number, fence } = claimed
  const { stage: outcome, status, latencyMs, answer } = ended
  const error = ended.stage === 'accepted' ? null : ended.error
  return { id, number, fence, outcome, status, error, latencyMs, answer }
}

/** The answer is known: a database that is away for a moment must not make us send again. */
async function record(result: AttemptResult, context: DeliverContext): Promise<void> {
  const { sql, log, delaysMs, now } = context
  const delayMs = delaysMs[result.number - 1] ?? null
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (await recordAttempt(sql, result, { delayMs, now: now() })) return
      return log.warn({ delivery_id: result.id }, 'a delivery was taken over meanwhile')
    } catch (error) {
      if (attempt === RECORD_TRIES) throw error
      await sleep(RECORD_PAUSE_MS)
    }
  }
}
