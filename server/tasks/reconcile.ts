/**
 * Submissions whose outcome nobody knows: the process died, or the answer never came. They are
 * never sent again. The upstream's own list may show the one task that is nobody's else; what
 * stays unknown is given up at a stated age, and the caller gets the money back.
 */
import { isUniqueViolation } from '../database/unavailable.ts'
import type { ListedTask } from '../upstreams/task-driver.ts'
import { type Engine, type Reach, reach } from './engine.ts'
import { finish } from './finish.ts'
import { endAttempt, rescheduleTask } from './store.ts'
import { adopt } from './submit.ts'
import type { ClaimedTask } from './task.ts'
import { countPass, countUnresolved, knownUpstreamIds } from './timeline-store.ts'

/** A list that cannot be read is waited for this many times longer than an empty one. */
const UNREADABLE_FACTOR = 6

/** One pass over a task in state `submitting` whose lease this process has just taken. */
export async function reconcile(engine: Engine, task: ClaimedTask): Promise<void> {
  if (task.attempt_state === 'given_up') {
    // Who gave it up died before the task could end: what was found in the list is not known any
    // more, so the cost is noted.
    await giveUp(engine, task, 'unknown_submit')
    return
  }
  if (task.attempt_state !== 'sending' && task.attempt_state !== 'unknown') {
    // Nothing was sent, or it was clearly refused: the caller's connection ended with the process.
    const message = 'the submission was interrupted before it reached the upstream'
    const ending = { state: 'failed', code: 'not_submitted', message } as const
    await finish(engine, task, ending, { silent: true })
    return
  }
  const candidates = await findCandidates(engine, task)
  const [only, ...others] = candidates ?? []
  if (only && others.length === 0 && (await isAlone(engine, task, only))) {
    if (await adoptFound(engine, task, only)) return
  }
  await passOrGiveUp(engine, task, candidates)
}

/** Tasks in the upstream's list that may be this one; undefined when there is no readable list. */
async function findCandidates(
  engine: Engine,
  task: ClaimedTask,
): Promise<readonly ListedTask[] | undefined> {
  const { times, services } = engine
  const sentAt = task.sent_at ?? task.created_at
  let found: Reach
  try {
    found = await reach(engine, task)
    if (!found.driver.list) return undefined
    const since = new Date(sentAt.getTime() - times.skewMs)
    const { settings } = found
    const query = { settings, upstreamModel: task.upstream_model, since }
    const listed = await found.driver.list(found.wire, query)
    const until = sentAt.getTime() + times.submitTimeoutMs + times.skewMs
    const inTime = listed.filter(({ createdAt }) => {
      const at = createdAt.getTime()
      return at >= since.getTime() && at <= until
    })
    const ids = inTime.map(({ upstreamId }) => upstreamId)
    const known = await knownUpstreamIds(engine.sql, task.channel_id, ids)
    return inTime.filter(({ upstreamId }) => !known.has(upstreamId))
  } catch (error) {
    services.log.warn({ task_id: task.id, error }, 'an upstream’s list could not be read')
    return undefined
  }
}

/** True when no other submission of unknown outcome could have made this task. */
async function isAlone(engine: Engine, task: ClaimedTask, found: ListedTask): Promise<boolean> {
  const { times, sql } = engine
  // Submissions that are still under way have written their ids by then.
  if (task.sent_ms < times.submitTimeoutMs + times.leaseMs) return false
  const attempt = {
    id: task.attempt_id,
    channelId: task.channel_id,
    upstreamModel: task.upstream_model,
  }
  return (await countUnresolved(sql, attempt, found.createdAt, times.skewMs)) === 0
}

async function adoptFound(engine: Engine, task: ClaimedTask, found: ListedTask): Promise<boolean> {
  try {
    const adopted = await adopt(engine, task, found.upstreamId, 'adopted')
    if (adopted)
      engine.services.log.info({ task_id: task.id }, 'found a task whose answer was lost')
    return true
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    engine.services.log.error({ task_id: task.id }, 'an upstream id belongs to another attempt')
    return false
  }
}

async function passOrGiveUp(
  engine: Engine,
  task: ClaimedTask,
  candidates: readonly ListedTask[] | undefined,
): Promise<void> {
  const { sql, times } = engine
  if (candidates) await countPass(sql, task.attempt_id)
  const passes = task.passes + (candidates ? 1 : 0)
  const patience = candidates ? times.unknownMs : times.unknownMs * UNREADABLE_FACTOR
  const isListed = candidates !== undefined || (await hasList(engine, task))
  const old = task.sent_ms >= (isListed ? patience : times.unknownMs)
  if (!old || (candidates && passes < 2)) {
    const next = { state: task.state, dueInMs: times.passMs, failed: false, gone: false }
    await rescheduleTask(sql, task, next)
    return
  }
  const failure = 'no upstream task was found'
  await endAttempt(sql, task.attempt_id, { state: 'given_up', failure })
  const ambiguous = candidates !== undefined && candidates.length > 0
  const orphan = ambiguous ? 'ambiguous_submit' : candidates ? undefined : 'unknown_submit'
  await giveUp(engine, task, orphan)
}

async function giveUp(engine: Engine, task: ClaimedTask, orphan?: string): Promise<void> {
  const message = 'the upstream did not confirm the task; nothing was charged: create it again'
  const ending = { state: 'failed', code: 'submission_unknown', message } as const
  await finish(engine, task, ending, orphan ? { orphan } : {})
}

async function hasList(engine: Engine, task: ClaimedTask): Promise<boolean> {
  const found = await reach(engine, task).catch(() => undefined)
  return found?.driver.list !== undefined
}
