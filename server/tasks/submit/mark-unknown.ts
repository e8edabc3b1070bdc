/** The moment from which nobody knows what became of a submission, and what its owner is told. */
import type { TransactionSql } from 'postgres'
import { withTransaction } from '../../database/transaction.ts'
import { keepAnswer } from '../../ledger/holds/task-holds.ts'
import { wakeByKeptCallback } from '../callbacks/callback-store.ts'
import type { Engine } from '../engine.ts'
import type { TaskTimes } from '../schedule.ts'
import { endAttempt, markAnswerLost, readHeld, rescheduleTask } from '../store.ts'
import type { ClaimedTask } from '../task.ts'
import { addEvent } from '../timeline-store.ts'
import type { Means } from './recovery-means.ts'

/** An upstream that could tell but does not answer is waited for this many times longer. */
const UNREADABLE_FACTOR = 6

/** From when on a submission that is not found is given up, and the money goes back. */
export function releaseAgeMs({ unknownMs }: TaskTimes, means: Means): number {
  return means === 'none' ? unknownMs : unknownMs * UNREADABLE_FACTOR
}

export interface Unknown {
  readonly failure: string
  readonly reason: string
  readonly status?: number | undefined
  readonly means: Means
}

/**
 * The timeline says by what the task will be looked for, and when the money goes back if not. From
 * now on the task goes by our id, and a repeated request is answered with it.
 */
export async function noteUnknown(
  engine: Engine,
  task: ClaimedTask,
  { failure, reason, status, means }: Unknown,
): Promise<void> {
  const { sql, times } = engine
  await withTransaction(sql, async (transaction) => {
    const next = { state: task.state, dueInMs: times.passMs, failed: false, gone: false }
    // Locks the task: a report that comes now waits, and then finds what is written here.
    await rescheduleTask(transaction, task, next)
    await endAttempt(transaction, task.attempt_id, { state: 'unknown', failure, status })
    await addEvent(transaction, task.id, 'attempt_unknown', {
      channel: task.channel_id,
      reason,
      looked_for_by: means,
      released_after_seconds: Math.round(times.unknownMs / 1000),
    })
    // One that came before can be followed at once.
    if (task.callback_upstream_id === null) await wakeByKeptCallback(transaction, task.attempt_id)
    await markAnswerLost(transaction, task.id)
    await keepTaskAnswer(engine, transaction, task)
  })
}

/** What a repeated request is answered with; undefined where the answer is not kept. */
export interface AnswerToKeep {
  readonly body: Buffer | undefined
}

/**
 * Keeps the answer to the creation, by default that of the endpoint, for a request that is repeated
 * under its Idempotency-Key.
 */
export async function keepTaskAnswer(
  { submissions }: Pick<Engine, 'submissions'>,
  transaction: TransactionSql,
  task: Pick<ClaimedTask, 'id' | 'endpoint' | 'hold_id'>,
  keptAnswer?: AnswerToKeep,
): Promise<ClaimedTask | undefined> {
  const row = await readHeld(transaction, task.id)
  const submission = submissions.get(task.endpoint)
  if (!row || !submission) return row
  const body = keptAnswer ? keptAnswer.body : Buffer.from(JSON.stringify(submission.answer(row)))
  if (body) {
    await keepAnswer(transaction, task.hold_id, {
      status: 200,
      contentType: 'application/json',
      body,
    })
  }
  return row
}
