/**
 * Submissions whose outcome nobody knows: the process died, or the answer never came. They are
 * never made a second time. The upstream may show the one task that is nobody's else; what stays
 * unknown is given up at a stated age, and the caller gets the money back.
 */
import { isUniqueViolation } from '../../database/unavailable.ts'
import { settleClaimed } from '../background/settle-response.ts'
import { attemptOf, type Engine, reach } from '../engine.ts'
import { type FinishOptions, finish } from '../finish/finish.ts'
import { rescheduleTask } from '../store.ts'
import { noteUnknown, releaseAgeMs } from '../submit/mark-unknown.ts'
import { type Means, meansOf } from '../submit/recovery-means.ts'
import { adopt } from '../submit/submit.ts'
import type { ClaimedTask } from '../task.ts'
import { countPass } from '../timeline-store.ts'
import { type Finding, findLost } from './find-lost.ts'

/** Passes that must have found nothing before a submission is given up. */
const PASSES_MIN = 2

/** One pass over a task in state `submitting` whose lease this process has just taken. */
export async function reconcile(engine: Engine, task: ClaimedTask): Promise<void> {
  if (task.attempt_state !== 'sending' && task.attempt_state !== 'unknown') {
    // Nothing was sent, or it was clearly refused: the caller's connection ended with the process.
    const message = 'the submission was interrupted before it reached the upstream'
    const ending = { state: 'failed', code: 'not_submitted', message } as const
    await finish(engine, task, ending, { silent: true })
    return
  }
  const means = await knownMeans(engine, task)
  if (task.attempt_state === 'sending') {
    const failure = 'the process that submitted it ended before the answer'
    await noteUnknown(engine, task, { failure, reason: 'interrupted', means })
  }
  const finding = await findLost(engine, task)
  if (finding.kind === 'found' && (await adoptFound(engine, task, finding))) return
  await passOrGiveUp(engine, task, finding.kind, means)
}

/** A channel that cannot be opened may have means that nobody can use now. */
async function knownMeans(engine: Engine, task: ClaimedTask): Promise<Means> {
  const found = await reach(engine, task).catch(() => undefined)
  return found ? meansOf(found.driver, attemptOf(engine, found, task.attempt_id)) : 'none'
}

async function adoptFound(
  engine: Engine,
  task: ClaimedTask,
  { upstreamId, means }: Extract<Finding, { kind: 'found' }>,
): Promise<boolean> {
  const { log } = engine.services
  try {
    const adopted = await adopt(engine, task, upstreamId, { kind: 'adopted', by: means })
    if (adopted) log.info({ task_id: task.id, kind: means }, 'found a task whose answer was lost')
    return true
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    log.error({ task_id: task.id }, 'an upstream id belongs to another attempt')
    return false
  }
}

/** An id that is another attempt's is as good as none: whose is it then? */
async function passOrGiveUp(
  engine: Engine,
  task: ClaimedTask,
  kind: Finding['kind'],
  means: Means,
): Promise<void> {
  const { sql, times } = engine
  const isSearched = kind === 'absent' || kind === 'ambiguous' || kind === 'found'
  if (isSearched) await countPass(sql, task.attempt_id)
  const passes = task.passes + (isSearched ? 1 : 0)
  const patienceMs = releaseAgeMs(times, kind === 'unreadable' ? means : 'none')
  if (task.sent_ms < patienceMs || (isSearched && passes < PASSES_MIN)) {
    const next = { state: task.state, dueInMs: times.passMs, failed: false, gone: false }
    await rescheduleTask(sql, task, next)
    return
  }
  const reasons = { absent: undefined, ambiguous: 'ambiguous_submit', found: 'ambiguous_submit' }
  await giveUp(engine, task, isSearched ? reasons[kind] : 'unknown_submit', {
    attempt: { state: 'given_up', failure: 'no upstream task was found' },
    story: {
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
  // Of a stream whose response nobody can ask for, what was delivered is owed.
  const report = { outputBytes: 0, finished: false }
  await settleClaimed(engine, task, { status: 'failed', report, failure: ending }, finishing)
}
