/**
 * A vendor reports on a submission by itself. Nobody can know whether it was the vendor: a report
 * may say by which id to ask, and when, and nothing else. The worker asks the vendor; ids, results
 * and money come in by the same doors as without any report.
 */
import type { TransactionSql } from 'postgres'
import { withTransaction } from '../../database/transaction.ts'
import { isUnavailable } from '../../database/unavailable.ts'
import { GatewayError } from '../../lib/errors.ts'
import { failpoint } from '../../lib/failpoint.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { TaskCallbacks } from '../../upstreams/task-driver.ts'
import { type Engine, openChannel } from '../engine.ts'
import { addEvent } from '../timeline-store.ts'
import { isTaskId } from '../view-store.ts'
import {
  type AttemptNow,
  type AttemptPlace,
  findAttempt,
  isAnothers,
  lockAttempt,
  noteTold,
  wakeByReport,
} from './callback-store.ts'

/** Reports on one attempt beyond these change nothing: a vendor has six states and some retries. */
const REPORTS_MAX = 40
/** What vendors want to hear is a status; this is how one of them shows it. */
const HEARD: JsonObject = { status: 'success' }

interface Report {
  readonly place: AttemptPlace
  readonly attemptId: string
  readonly upstreamId: string | undefined
}

/**
 * Takes a report on an attempt and resolves with the answer to it, once it is written down.
 * Undefined when there is no such attempt. Throws 503 while the database is away: a vendor that is
 * told so reports again.
 */
export async function hearReport(
  engine: Engine,
  attemptId: string,
  document: unknown,
): Promise<JsonObject | undefined> {
  try {
    return await hear(engine, attemptId, document)
  } catch (error) {
    if (!isUnavailable(error)) throw error
    throw new GatewayError('unavailable', { retryAfterSeconds: 2, cause: error })
  }
}

async function hear(
  engine: Engine,
  attemptId: string,
  document: unknown,
): Promise<JsonObject | undefined> {
  const place = await findAttempt(engine.sql, attemptId)
  if (!place) {
    // Ours it is: perhaps of a time that a restored backup does not know.
    engine.services.log.warn({ attempt_id: attemptId }, 'a report on an attempt that is not here')
    return undefined
  }
  const callbacks = await callbacksOf(engine, place)
  const { upstreamId, reply } = callbacks?.read(isObject(document) ? document : {}) ?? {}
  if (reply) return reply
  const isId = upstreamId !== undefined && isTaskId(upstreamId)
  const report = { place, attemptId, upstreamId: isId ? upstreamId : undefined }
  await withTransaction(engine.sql, (transaction) => write(engine, transaction, report))
  failpoint('task-told')
  return HEARD
}

/** A channel that cannot be opened any more has reports that nobody can read. */
async function callbacksOf(
  engine: Engine,
  place: AttemptPlace,
): Promise<TaskCallbacks<unknown> | undefined> {
  const channel = await openChannel(engine, place).catch(() => undefined)
  return channel && engine.services.upstreams.get(channel.upstream)?.tasks?.[place.kind]?.callbacks
}

async function write(
  { times, services }: Engine,
  transaction: TransactionSql,
  { place, attemptId, upstreamId }: Report,
): Promise<void> {
  const { task_id: taskId, channel_id: channelId } = place
  const now = await lockAttempt(transaction, taskId, attemptId)
  if (!now || now.callback_count >= REPORTS_MAX) return
  const isForeign =
    upstreamId !== undefined && (await isAnothers(transaction, channelId, attemptId, upstreamId))
  const use = isForeign ? 'another_task' : judge(now, upstreamId)
  if (use === undefined) return
  const isUseful = use === 'keep' || use === 'look'
  await noteTold(transaction, attemptId, use === 'keep' ? (upstreamId ?? null) : null)
  const why = {
    ...(isUseful ? {} : { ignored: use }),
    // What nobody was charged for: whoever reads the vendor's bill looks for this.
    ...(use === 'too_late' && upstreamId !== undefined ? { upstream_id: upstreamId } : {}),
  }
  await addEvent(transaction, taskId, 'upstream_reported', { channel: channelId, ...why })
  if (isUseful && now.state !== 'sending') {
    await wakeByReport(transaction, attemptId, times.lookMsMin)
  }
  const fields = { task_id: taskId, channel: channelId, attempt_id: attemptId }
  if (!isUseful) services.log.warn({ ...fields, reason: use }, 'a report was not followed')
}

/**
 * keep: the id is one to ask by. look: there is news of a task that is known. Anything else is why
 * the report is not followed; undefined where it says nothing new.
 */
function judge(
  { state, upstream_id: known, is_current: isCurrent, has_ended: hasEnded }: AttemptNow,
  named: string | undefined,
): 'keep' | 'look' | 'another_task' | 'refused' | 'too_late' | undefined {
  if (state === 'given_up') return 'too_late'
  // It had said that it did not take this one.
  if (state === 'refused') return 'refused'
  if (hasEnded || !isCurrent) return undefined
  if (state === 'sending' || state === 'unknown') return 'keep'
  if (state !== 'accepted') return undefined
  return named === undefined || named === known ? 'look' : 'another_task'
}
