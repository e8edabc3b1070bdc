/**
 * Looks up a submission without an answer while its creator still waits: most are found, or known
 * to be absent, within seconds. What stays unknown is reconciled later.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { withTransaction } from '../../../base/database/transaction.ts'
import { UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import { type Engine, vendorAttemptOf } from '../engine.ts'
import { endAttempt, readClaimedTask } from '../store.ts'
import type { ClaimedTask } from '../task.ts'
import { addEvent } from '../timeline-store.ts'
import { type Finding, findLostSubmission } from './find-lost.ts'
import type { PlannedRoute } from './plan.ts'
import { LOOK_UP_PAUSES, type RecoveryMethod, recoveryMethodOf } from './recovery-method.ts'

/** The methods that state for certain that there is no task. */
const ASKS: ReadonlySet<RecoveryMethod> = new Set(['own_id', 'repeated', 'list'])

export type LookUp =
  | Extract<Finding, { kind: 'found' }>
  /** The upstream has no such task, so another route may be tried. */
  | { readonly kind: 'absent'; readonly failure: UpstreamFailure }
  | { readonly kind: 'unknown'; readonly method: RecoveryMethod }

/** Looks up an attempt that ended with `failure`. Never rejects because of the upstream. */
export async function lookUpSubmission(
  engine: Engine,
  sent: ClaimedTask,
  { driver, order }: PlannedRoute,
  failure: UpstreamFailure,
): Promise<LookUp> {
  const method = recoveryMethodOf(
    driver,
    vendorAttemptOf(engine, { driver, ...order }, sent.attempt_id),
  )
  if (!ASKS.has(method)) return { kind: 'unknown', method }
  let absent: Extract<Finding, { kind: 'absent' }> | undefined
  for (const pause of LOOK_UP_PAUSES) {
    await sleep(pause * engine.times.pollMsMin)
    // Read again, because a vendor callback may have named the id.
    const task = (await readClaimedTask(engine.sql, sent).catch(() => undefined)) ?? sent
    const finding = await findLostSubmission(engine, task, order)
    if (finding.kind === 'found') return finding
    absent = finding.kind === 'absent' ? finding : undefined
    if (absent?.refusal) break
  }
  if (!absent) return { kind: 'unknown', method }
  const { details } = failure
  return {
    kind: 'absent',
    failure: absent.refusal ?? new UpstreamFailure('failed', { ...details, cause: failure }),
  }
}

/** Records that the upstream has no task of the attempt. */
export async function recordAbsence(
  engine: Engine,
  task: ClaimedTask,
  { kind: reason, details }: UpstreamFailure,
): Promise<void> {
  const { message = reason, status } = details
  await withTransaction(engine.sql, async (transaction) => {
    await endAttempt(transaction, task.attempt_id, { state: 'given_up', failure: message, status })
    const { channel_id: channel } = task
    await addEvent(transaction, task.id, 'attempt_given_up', { channel, found: 'absent' })
  })
}
