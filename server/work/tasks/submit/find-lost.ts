/**
 * Looks up a submission of unknown outcome at its upstream, by the best available method: the id
 * from a vendor callback, a query by our own id, a repeated idempotent submission, or a list.
 */
import { GatewayError } from '../../../base/lib/errors.ts'
import type { JsonObject } from '../../../base/lib/json.ts'
import { readCreationFailure, UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import type { TaskAttempt } from '../../../wire/upstreams/task-driver.ts'
import {
  type Engine,
  openTaskUpstream,
  type TaskUpstream,
  taskReferenceOf,
  vendorAttemptOf,
} from '../engine.ts'
import type { ClaimedTask } from '../task.ts'
import { countUnresolved, knownUpstreamIds } from '../timeline-store.ts'
import { findSource } from '../view-store.ts'
import { judgeAnswer } from './judge-answer.ts'
import type { PlannedRoute } from './plan.ts'
import { type RecoveryMethod, recoveryMethodOf } from './recovery-method.ts'

/**
 * found: exactly this submission. absent: the upstream has none, and states why if it was asked to
 * take it again. ambiguous: it may be another one. unreadable: the upstream did not respond. blind:
 * the upstream has no method.
 */
export type Finding =
  | { readonly kind: 'found'; readonly upstreamId: string; readonly method: RecoveryMethod }
  | { readonly kind: 'absent'; readonly refusal?: UpstreamFailure }
  | { readonly kind: 'ambiguous' | 'unreadable' | 'blind' }

/**
 * Looks up a submission; `order` is the order that was submitted, while it is still known. Never
 * rejects because of the upstream.
 */
export async function findLostSubmission(
  engine: Engine,
  task: ClaimedTask,
  order?: PlannedRoute['order'],
): Promise<Finding> {
  // Vendors have no list of background responses.
  if (engine.submissions.get(task.endpoint)?.background) return { kind: 'blind' }
  try {
    return await search(engine, task, await openTaskUpstream(engine, task), order)
  } catch (error) {
    engine.services.log.warn({ task_id: task.id, error }, 'the look-up of a lost submission failed')
    return { kind: 'unreadable' }
  }
}

async function search(
  engine: Engine,
  task: ClaimedTask,
  upstream: TaskUpstream,
  order: PlannedRoute['order'] | undefined,
): Promise<Finding> {
  const finding = await findByCallbackId(engine, task, upstream)
  if (finding) return finding
  const attempt = vendorAttemptOf(engine, upstream, task.attempt_id)
  switch (recoveryMethodOf(upstream.driver, attempt)) {
    case 'own_id':
      return await findByOwnId(task, upstream, attempt)
    case 'repeated':
      return await repeatSubmission(engine, task, upstream, attempt, order)
    case 'list':
      return await findInList(engine, task, upstream)
    case 'callback':
    case 'none':
      return { kind: 'blind' }
  }
}

/** Checks the id from a vendor callback by a poll, since a callback could name any id. */
async function findByCallbackId(
  { sql }: Engine,
  task: ClaimedTask,
  { driver, wire, settings }: TaskUpstream,
): Promise<Finding | undefined> {
  const { callback_upstream_id: callbackId, channel_id: channelId } = task
  if (callbackId === null) return undefined
  if ((await knownUpstreamIds(sql, channelId, [callbackId])).size > 0) return undefined
  const { state } = await driver.poll(wire, taskReferenceOf(task, settings, callbackId))
  if (state === 'gone') return undefined
  return { kind: 'found', upstreamId: callbackId, method: 'callback' }
}

async function findByOwnId(
  { upstream_model: upstreamModel }: ClaimedTask,
  { driver, wire, settings }: TaskUpstream,
  attempt: TaskAttempt,
): Promise<Finding> {
  const recovered = await driver.recover?.(wire, { settings, upstreamModel, attempt })
  if (!recovered) return { kind: 'absent' }
  return { kind: 'found', upstreamId: recovered.upstreamId, method: 'own_id' }
}

/** Repeats an idempotent submission. A rejection proves that the first one was not accepted. */
async function repeatSubmission(
  engine: Engine,
  task: ClaimedTask,
  { driver, wire, settings }: TaskUpstream,
  attempt: TaskAttempt,
  order: PlannedRoute['order'] | undefined,
): Promise<Finding> {
  const restored = order ?? (await restoreOrder(engine, task, settings))
  if (!restored) return { kind: 'blind' }
  try {
    const submitted = await driver.submit(wire, restored, attempt)
    const refusal = await judgeAnswer(engine, task, submitted)
    if (refusal) throw refusal
    return { kind: 'found', upstreamId: submitted.upstreamId, method: 'repeated' }
  } catch (error) {
    const failure = error instanceof UpstreamFailure ? readCreationFailure(error) : undefined
    if (failure?.kind === 'rejected') return { kind: 'absent', refusal: failure }
    throw error
  }
}

async function restoreOrder(
  engine: Engine,
  task: ClaimedTask,
  settings: unknown,
): Promise<PlannedRoute['order'] | undefined> {
  const parameters = await restoreParameters(engine, task)
  const { models } = engine.services.catalog.snapshot()
  return (
    parameters && {
      settings,
      upstreamModel: task.upstream_model,
      parameters,
      sentFields: new Set(Object.keys(parameters)),
      details: models.get(task.model)?.details ?? {},
    }
  )
}

/**
 * Rebuilds the submission's parameters from its source task; other tasks store too few. Returns
 * undefined if the source can no longer be used.
 */
async function restoreParameters(
  { sql, submissions }: Engine,
  { endpoint, request, account_id: accountId }: ClaimedTask,
): Promise<JsonObject | undefined> {
  const source = submissions.get(endpoint)?.source
  const id = source?.id(request)
  if (!source || id === undefined) return undefined
  const row = await findSource(sql, accountId, id)
  try {
    return row && source.use(request, row)
  } catch (error) {
    if (error instanceof GatewayError) return undefined
    throw error
  }
}

/** Searches the upstream's list for the one unknown task created at the time of the submission. */
async function findInList(
  engine: Engine,
  task: ClaimedTask,
  { driver, wire, settings }: TaskUpstream,
): Promise<Finding> {
  const { times, sql } = engine
  const { upstream_model: upstreamModel, channel_id: channelId } = task
  const sentAt = (task.sent_at ?? task.created_at).getTime()
  const since = new Date(sentAt - times.skewMs)
  const until = sentAt + times.submitTimeoutMs + times.skewMs
  const listed = (await driver.list?.(wire, { settings, upstreamModel, since })) ?? []
  const inTime = listed.filter(({ createdAt }) => {
    return createdAt.getTime() >= since.getTime() && createdAt.getTime() <= until
  })
  const ids = inTime.map(({ upstreamId }) => upstreamId)
  const known = await knownUpstreamIds(sql, channelId, ids)
  const [only, ...others] = inTime.filter(({ upstreamId }) => !known.has(upstreamId))
  if (!only) return { kind: 'absent' }
  const attempt = { id: task.attempt_id, channelId, upstreamModel }
  const isOnly =
    others.length === 0 && (await countUnresolved(sql, attempt, only.createdAt, times.skewMs)) === 0
  if (!isOnly) return { kind: 'ambiguous' }
  // An attempt that was under way when the list was read has recorded its id by now.
  const isKnown = (await knownUpstreamIds(sql, channelId, [only.upstreamId])).size > 0
  if (isKnown) return { kind: 'absent' }
  return { kind: 'found', upstreamId: only.upstreamId, method: 'list' }
}
