/**
 * Receives vendor callbacks. Anybody may have sent one: it says at most which id to poll, and when.
 * The worker polls the vendor; ids, results and money come from there, as without any callback.
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
  noteCallback,
  wakeByCallback,
} from './callback-store.ts'

/** Further callbacks for an attempt change nothing: a vendor has six states and some retries. */
const CALLBACKS_MAX = 40
/** The answer to a callback; vendors want a status. */
const ACKNOWLEDGEMENT: JsonObject = { status: 'success' }

interface ReceivedCallback {
  readonly place: AttemptPlace
  readonly attemptId: string
  readonly upstreamId: string | undefined
}

/**
 * Takes a callback for an attempt. Resolves with the answer to it, once it is written down, or
 * with undefined when there is no such attempt. Throws 503 while the database is away: a vendor
 * that gets it calls again.
 */
export async function receiveCallback(
  engine: Engine,
  attemptId: string,
  document: unknown,
): Promise<JsonObject | undefined> {
  try {
    return await receive(engine, attemptId, document)
  } catch (error) {
    if (!isUnavailable(error)) throw error
    throw new GatewayError('unavailable', { retryAfterSeconds: 2, cause: error })
  }
}

async function receive(
  engine: Engine,
  attemptId: string,
  document: unknown,
): Promise<JsonObject | undefined> {
  const place = await findAttempt(engine.sql, attemptId)
  if (!place) {
    // Signed by this gateway: perhaps at a time that a restored backup does not know.
    engine.services.log.warn({ attempt_id: attemptId }, 'vendor callback for an unknown attempt')
    return undefined
  }
  const callbacks = await callbacksOf(engine, place)
  const { upstreamId, reply } = callbacks?.read(isObject(document) ? document : {}) ?? {}
  if (reply) return reply
  const isId = upstreamId !== undefined && isTaskId(upstreamId)
  const callback = { place, attemptId, upstreamId: isId ? upstreamId : undefined }
  await withTransaction(engine.sql, (transaction) => write(engine, transaction, callback))
  failpoint('task-callback')
  return ACKNOWLEDGEMENT
}

/** Undefined for a channel that cannot be opened any more. */
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
  { place, attemptId, upstreamId }: ReceivedCallback,
): Promise<void> {
  const { task_id: taskId, channel_id: channelId } = place
  const now = await lockAttempt(transaction, taskId, attemptId)
  if (!now || now.callback_count >= CALLBACKS_MAX) return
  const isForeign =
    upstreamId !== undefined && (await isAnothers(transaction, channelId, attemptId, upstreamId))
  const use = isForeign ? 'another_task' : judge(now, upstreamId)
  if (use === undefined) return
  const isUseful = use === 'keep' || use === 'poll'
  await noteCallback(transaction, attemptId, use === 'keep' ? (upstreamId ?? null) : null)
  const why = {
    ...(isUseful ? {} : { ignored: use }),
    // What nobody was charged for: whoever reads the vendor's bill looks for this.
    ...(use === 'too_late' && upstreamId !== undefined ? { upstream_id: upstreamId } : {}),
  }
  await addEvent(transaction, taskId, 'upstream_reported', { channel: channelId, ...why })
  if (isUseful && now.state !== 'sending') {
    await wakeByCallback(transaction, attemptId, times.pollMsMin)
  }
  const fields = { task_id: taskId, channel: channelId, attempt_id: attemptId }
  if (!isUseful) services.log.warn({ ...fields, reason: use }, 'vendor callback ignored')
}

/**
 * keep: the id is one to poll by. poll: there is news of a known task. Any other value is why the
 * callback is ignored; undefined where it says nothing new.
 */
function judge(
  { state, upstream_id: known, is_current: isCurrent, has_ended: hasEnded }: AttemptNow,
  named: string | undefined,
): 'keep' | 'poll' | 'another_task' | 'refused' | 'too_late' | undefined {
  if (state === 'given_up') return 'too_late'
  // It had said that it did not take this one.
  if (state === 'refused') return 'refused'
  if (hasEnded || !isCurrent) return undefined
  if (state === 'sending' || state === 'unknown') return 'keep'
  if (state !== 'accepted') return undefined
  return named === undefined || named === known ? 'poll' : 'another_task'
}
