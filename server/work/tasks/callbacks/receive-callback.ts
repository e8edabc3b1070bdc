/**
 * Receives vendor callbacks. They are untrusted: a callback decides at most which id is polled, and
 * when. Ids, results and charges come from polling the vendor, as without any callback.
 */
import type { TransactionSql } from 'postgres'
import { withTransaction } from '../../../base/database/transaction.ts'
import { isUnavailable } from '../../../base/database/unavailable.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import { isObject, type JsonObject } from '../../../base/lib/json.ts'
import { failpoint } from '../../../base/lib/process/failpoint.ts'
import { type TaskCallbacks, withChannel } from '../../../wire/upstreams/task-driver.ts'
import { type Engine, openChannel } from '../engine.ts'
import { addEvent, addUnchargedCost } from '../timeline-store.ts'
import { isTaskId } from '../view-store.ts'
import {
  type AttemptOwner,
  belongsToOtherAttempt,
  findAttempt,
  type LockedAttempt,
  lockAttempt,
  recordCallback,
  wakeByCallback,
} from './callback-store.ts'

/** Callbacks per attempt; further ones are ignored. A vendor has six states and some retries. */
const CALLBACKS_MAX = 40
/** The response to a callback; vendors expect a status. */
const ACKNOWLEDGEMENT: JsonObject = { status: 'success' }

interface ReceivedCallback {
  readonly owner: AttemptOwner
  readonly attemptId: string
  readonly upstreamId: string | undefined
}

/**
 * Handles a callback for an attempt. Resolves with the response once the callback is recorded, or
 * with undefined for an unknown attempt. Rejects with 503, which vendors retry, while the database
 * is unavailable.
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
  const owner = await findAttempt(engine.sql, attemptId)
  if (!owner) {
    // Its signature is valid, so a restored backup may be older than the attempt.
    engine.services.log.warn({ attempt_id: attemptId }, 'vendor callback for an unknown attempt')
    return undefined
  }
  const callbacks = await openCallbacks(engine, owner)
  const { upstreamId, reply } = callbacks?.read(isObject(document) ? document : {}) ?? {}
  if (reply) return reply
  const isId = upstreamId !== undefined && isTaskId(upstreamId)
  const callback = { owner, attemptId, upstreamId: isId ? upstreamId : undefined }
  await withTransaction(engine.sql, (transaction) => write(engine, transaction, callback))
  failpoint('task-callback')
  return ACKNOWLEDGEMENT
}

/** Returns the callback reader of the attempt's driver; undefined if its channel is unusable. */
async function openCallbacks(
  engine: Engine,
  owner: AttemptOwner,
): Promise<TaskCallbacks<unknown> | undefined> {
  const channel = await openChannel(engine, owner).catch(() => undefined)
  const driver = channel && engine.services.upstreams.get(channel.upstream)?.tasks?.[owner.kind]
  return driver && withChannel(driver, channel.settings).callbacks
}

/** Records the callback and makes its task due, unless it is ignored. */
async function write(
  { times, services }: Engine,
  transaction: TransactionSql,
  { owner, attemptId, upstreamId }: ReceivedCallback,
): Promise<void> {
  const { task_id: taskId, channel_id: channelId } = owner
  const attempt = await lockAttempt(transaction, owner, attemptId)
  if (!attempt || attempt.callback_count >= CALLBACKS_MAX) return
  const isForeign =
    upstreamId !== undefined &&
    (await belongsToOtherAttempt(transaction, channelId, attemptId, upstreamId))
  const verdict = isForeign ? 'another_task' : judge(attempt, upstreamId)
  if (verdict === undefined) return
  const isUseful = verdict === 'keep' || verdict === 'poll'
  const namedId = verdict === 'keep' ? (upstreamId ?? null) : null
  await recordCallback(transaction, attemptId, namedId)
  const isUncharged = verdict === 'too_late' || verdict === 'refused'
  const detail = {
    channel: channelId,
    ...(isUseful ? {} : { ignored: verdict }),
    // Identifies an uncharged task on the vendor's bill.
    ...(isUncharged && upstreamId !== undefined ? { upstream_id: upstreamId } : {}),
  }
  await addEvent(transaction, taskId, 'upstream_reported', detail)
  if (isUncharged && upstreamId !== undefined) {
    const uncharged = { reason: 'unknown_submit', upstreamId, cost: null }
    await addUnchargedCost(transaction, attemptId, uncharged)
  }
  if (isUseful && attempt.state !== 'sending') {
    await wakeByCallback(transaction, owner, attemptId, times.pollMsMin)
  }
  const fields = { task_id: taskId, channel: channelId, attempt_id: attemptId }
  if (!isUseful) services.log.warn({ ...fields, reason: verdict }, 'vendor callback ignored')
}

/**
 * Decides about a callback. keep: its id identifies the submission. poll: it reports a known
 * task. Any other value is the reason why it is ignored; undefined if it reports nothing new.
 */
function judge(
  { state, upstream_id: knownId, is_current: isCurrent, has_ended: hasEnded }: LockedAttempt,
  namedId: string | undefined,
): 'keep' | 'poll' | 'another_task' | 'refused' | 'too_late' | undefined {
  if (state === 'given_up') return 'too_late'
  // The vendor refused this attempt, so the callback contradicts it.
  if (state === 'refused') return 'refused'
  if (hasEnded || !isCurrent) return undefined
  if (state === 'sending' || state === 'unknown') return 'keep'
  if (state !== 'accepted') return undefined
  return namedId === undefined || namedId === knownId ? 'poll' : 'another_task'
}
