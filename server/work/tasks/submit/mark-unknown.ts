/** Marks a submission's outcome as unknown and schedules reconciliation. */
import type { TransactionSql } from 'postgres'
import { withTransaction } from '../../../base/database/transaction.ts'
import { keepAnswer } from '../../../money/ledger/holds/task-holds.ts'
import { wakeByEarlierCallback } from '../callbacks/callback-store.ts'
import type { Engine } from '../engine.ts'
import type { TaskTimes } from '../schedule.ts'
import { endAttempt, markAnswerLost, readClaimedTask, rescheduleTask } from '../store.ts'
import type { ClaimedTask } from '../task.ts'
import { addEvent } from '../timeline-store.ts'
import type { RecoveryMethod } from './recovery-method.ts'

/** Factor of the release age while an upstream that can find submissions does not respond. */
const UNREADABLE_FACTOR = 6

/** Returns the age at which a submission that was not found is given up and its hold released. */
export function releaseAgeMs({ unknownMs }: TaskTimes, method: RecoveryMethod): number {
  return method === 'none' ? unknownMs : unknownMs * UNREADABLE_FACTOR
}

export interface UnknownOutcome {
  readonly failure: string
  readonly reason: string
  readonly status?: number | undefined
  readonly method: RecoveryMethod
}

/**
 * Marks the attempt as unknown. The timeline states the recovery method and the time until the
 * release. From now on our id identifies the task, also in the response to a repeated request.
 */
export async function markUnknown(
  engine: Engine,
  task: ClaimedTask,
  { failure, reason, status, method }: UnknownOutcome,
): Promise<void> {
  const { sql, times } = engine
  await withTransaction(sql, async (transaction) => {
    const next = { state: task.state, dueInMs: times.passMs, failed: false, gone: false }
    // Locks the task: a concurrent vendor callback waits, and then sees the unknown outcome.
    await rescheduleTask(transaction, task, next)
    await endAttempt(transaction, task.attempt_id, { state: 'unknown', failure, status })
    await addEvent(transaction, task.id, 'attempt_unknown', {
      channel: task.channel_id,
      reason,
      looked_for_by: method,
      released_after_seconds: Math.round(times.unknownMs / 1000),
    })
    // An earlier callback with an id makes the task due at once.
    if (task.callback_upstream_id === null) {
      await wakeByEarlierCallback(transaction, task)
    }
    await markAnswerLost(transaction, task)
    await keepTaskAnswer(engine, transaction, task)
  })
}

/** The response to a repeated request; `body` is undefined if it is not kept. */
export interface AnswerToKeep {
  readonly body: Buffer | undefined
}

/**
 * Keeps the creation's response, by default the endpoint's, for requests repeated under the same
 * Idempotency-Key.
 */
export async function keepTaskAnswer(
  { submissions }: Pick<Engine, 'submissions'>,
  transaction: TransactionSql,
  task: Pick<ClaimedTask, 'id' | 'account_id' | 'endpoint' | 'hold_id'>,
  keptAnswer?: AnswerToKeep,
): Promise<ClaimedTask | undefined> {
  const row = await readClaimedTask(transaction, task)
  const submission = submissions.get(task.endpoint)
  if (!row || !submission) return row
  const body = keptAnswer ? keptAnswer.body : Buffer.from(JSON.stringify(submission.answer(row)))
  if (body) {
    await keepAnswer(transaction, task, {
      status: 200,
      contentType: 'application/json',
      body,
    })
  }
  return row
}
