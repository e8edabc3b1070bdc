/**
 * Reconciles submissions of unknown outcome: the process died, or the answer was lost. They are
 * never submitted again as new tasks. Each pass looks the submission up at its upstream; one that
 * is not found is given up at a stated age, and its hold is released.
 */
import { isUniqueViolation } from '../../../base/database/unavailable.ts'
import { settleClaimed } from '../background/settle-response.ts'
import { type Engine, openTaskUpstream, vendorAttemptOf } from '../engine.ts'
import { type FinishOptions, finish } from '../finish/finish.ts'
import { rescheduleTask } from '../store.ts'
import { type Finding, findLostSubmission } from '../submit/find-lost.ts'
import { markUnknown, releaseAgeMs } from '../submit/mark-unknown.ts'
import { type RecoveryMethod, recoveryMethodOf } from '../submit/recovery-method.ts'
import { adopt } from '../submit/submit.ts'
import type { ClaimedTask } from '../task.ts'
import { countPass } from '../timeline-store.ts'

/** Passes without a result before a submission is given up. */
const PASSES_MIN = 2

/** Runs one pass over a claimed task in state `submitting`. */
export async function reconcile(engine: Engine, task: ClaimedTask): Promise<void> {
  if (task.attempt_state !== 'sending' && task.attempt_state !== 'unknown') {
    // Nothing was sent, or it was refused. Unless the creation has been answered, the caller's
    // connection ended with the process.
    const message = 'the submission was interrupted before it reached the upstream'
    const ending = { state: 'failed', code: 'not_submitted', message } as const
    await finish(engine, task, ending, { silent: !task.answer_lost })
    return
  }
  const method = await findRecoveryMethod(engine, task)
  if (task.attempt_state === 'sending') {
    const failure = 'the process that submitted it ended before the answer'
    await markUnknown(engine, task, { failure, reason: 'interrupted', method })
  }
  const finding = await findLostSubmission(engine, task)
  if (finding.kind === 'found' && (await adoptFound(engine, task, finding))) return
  await passOrGiveUp(engine, task, finding.kind, method)
}

/** Returns the task's recovery method; `none` if its channel cannot be opened. */
async function findRecoveryMethod(engine: Engine, task: ClaimedTask): Promise<RecoveryMethod> {
  const upstream = await openTaskUpstream(engine, task).catch(() => undefined)
  if (!upstream) return 'none'
  return recoveryMethodOf(upstream.driver, vendorAttemptOf(engine, upstream, task.attempt_id))
}

/** Adopts the found submission. False if its id belongs to another attempt. */
async function adoptFound(
  engine: Engine,
  task: ClaimedTask,
  { upstreamId, method }: Extract<Finding, { kind: 'found' }>,
): Promise<boolean> {
  const { log } = engine.services
  try {
    const adopted = await adopt(engine, task, upstreamId, { kind: 'adopted', by: method })
    if (adopted) log.info({ task_id: task.id, kind: method }, 'found a task whose answer was lost')
    return true
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    log.error({ task_id: task.id }, 'an upstream id belongs to another attempt')
    return false
  }
}

/**
 * Schedules the next pass, or gives the submission up. `found` means an id that belongs to another
 * attempt, which is ambiguous.
 */
async function passOrGiveUp(
  engine: Engine,
  task: ClaimedTask,
  kind: Finding['kind'],
  method: RecoveryMethod,
): Promise<void> {
  const { sql, times } = engine
  const isSearched = kind !== 'unreadable' && kind !== 'blind'
  if (isSearched) await countPass(sql, task.attempt_id)
  const passes = task.passes + (isSearched ? 1 : 0)
  const giveUpAgeMs = releaseAgeMs(times, kind === 'unreadable' ? method : 'none')
  if (task.sent_ms < giveUpAgeMs || (isSearched && passes < PASSES_MIN)) {
    const next = { state: task.state, dueInMs: times.passMs, failed: false, gone: false }
    await rescheduleTask(sql, task, next)
    return
  }
  await giveUp(engine, task, unchargedReasonOf(kind), {
    attempt: { state: 'given_up', failure: 'no upstream task was found' },
    precedingEvent: {
      kind: 'attempt_given_up',
      detail: {
        channel: task.channel_id,
        found: kind,
        passes,
        after_seconds: Math.round(task.sent_ms / 1000),
      },
    },
  })
}

/** Returns why the upstream may bill the submission; undefined if it certainly has none. */
function unchargedReasonOf(kind: Finding['kind']): string | undefined {
  if (kind === 'absent') return undefined
  return kind === 'ambiguous' || kind === 'found' ? 'ambiguous_submit' : 'unknown_submit'
}

async function giveUp(
  engine: Engine,
  task: ClaimedTask,
  unchargedReason: string | undefined,
  options: FinishOptions = {},
): Promise<void> {
  const message = 'the upstream did not confirm the task'
  const ending = { state: 'failed', code: 'submission_unknown', message } as const
  const finishing = unchargedReason ? { ...options, unchargedReason } : options
  if (!engine.submissions.get(task.endpoint)?.background) {
    await finish(engine, task, ending, finishing)
    return
  }
  // A background response cannot be looked up; charge the output that its stream delivered.
  const report = { outputBytes: 0, finished: false }
  await settleClaimed(engine, task, { status: 'failed', report, failure: ending }, finishing)
}
