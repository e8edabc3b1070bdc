/**
 * What an upstream can tell of a submission whose outcome nobody knows, by the best means it has:
 * the id that its own report named, a question by an id of ours, the same submission once more
 * where it counts as one, or its list.
 */

import { GatewayError } from '../../lib/errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import { UpstreamFailure } from '../../upstreams/failure.ts'
import type { ListedTask, TaskAttempt } from '../../upstreams/task-driver.ts'
import { attemptOf, type Engine, type Reach, reach, taskReferenceOf } from '../engine.ts'
import { type Means, meansOf } from '../submit/recovery-means.ts'
import type { ClaimedTask } from '../task.ts'
import { countUnresolved, knownUpstreamIds } from '../timeline-store.ts'
import { findSource } from '../view-store.ts'

/**
 * found: it is this task and no other's. absent: the upstream has none. ambiguous: there may be
 * others. unreadable: it did not say. blind: there is nothing to ask.
 */
export type Finding =
  | { readonly kind: 'found'; readonly upstreamId: string; readonly means: Means }
  | { readonly kind: 'absent' | 'ambiguous' | 'unreadable' | 'blind' }

/** Never rejects for what the upstream does or says. */
export async function findLost(engine: Engine, task: ClaimedTask): Promise<Finding> {
  // A vendor of background responses has no list of them.
  if (engine.submissions.get(task.endpoint)?.background) return { kind: 'blind' }
  let found: Reach | undefined
  try {
    found = await reach(engine, task)
    return await ask(engine, task, found)
  } catch (error) {
    engine.services.log.warn({ task_id: task.id, error }, 'a lost submission was not asked after')
    return { kind: 'unreadable' }
  }
}

async function ask(engine: Engine, task: ClaimedTask, found: Reach): Promise<Finding> {
  const named = await askByCallbackId(engine, task, found)
  if (named) return named
  const attempt = attemptOf(engine, found, task.attempt_id)
  switch (meansOf(found.driver, attempt)) {
    case 'own_id':
      return await askById(task, found, attempt)
    case 'repeated':
      return await askAgain(engine, task, found, attempt)
    case 'list':
      return await readList(engine, task, found)
    case 'callback':
    case 'none':
      return { kind: 'blind' }
  }
}

/** Whoever knows an address can name any id: the vendor is asked whether it has such a task. */
async function askByCallbackId(
  { sql }: Engine,
  task: ClaimedTask,
  { driver, wire, settings }: Reach,
): Promise<Finding | undefined> {
  const { callback_upstream_id: callbackId, channel_id: channelId } = task
  if (callbackId === null) return undefined
  if ((await knownUpstreamIds(sql, channelId, [callbackId])).size > 0) return undefined
  const { state } = await driver.poll(wire, taskReferenceOf(task, settings, callbackId))
  if (state === 'gone') return undefined
  return { kind: 'found', upstreamId: callbackId, means: 'callback' }
}

async function askById(
  { upstream_model: upstreamModel }: ClaimedTask,
  { driver, wire, settings }: Reach,
  attempt: TaskAttempt,
): Promise<Finding> {
  const recovered = await driver.recover?.(wire, { settings, upstreamModel, attempt })
  if (!recovered) return { kind: 'absent' }
  return { kind: 'found', upstreamId: recovered.upstreamId, means: 'own_id' }
}

/** What refuses it now would have known it: it was not taken the first time either. */
async function askAgain(
  engine: Engine,
  task: ClaimedTask,
  { driver, wire, settings }: Reach,
  attempt: TaskAttempt,
): Promise<Finding> {
  const parameters = await restoreParameters(engine, task)
  if (!parameters) return { kind: 'blind' }
  const { models } = engine.services.catalog.snapshot()
  const order = {
    settings,
    upstreamModel: task.upstream_model,
    parameters,
    sentFields: new Set(Object.keys(parameters)),
    details: models.get(task.model)?.details ?? {},
  }
  try {
    const { upstreamId } = await driver.submit(wire, order, attempt)
    return { kind: 'found', upstreamId, means: 'repeated' }
  } catch (error) {
    if (error instanceof UpstreamFailure && error.kind === 'rejected') return { kind: 'absent' }
    throw error
  }
}

/**
 * The order again, from the task that it built on: of any other too little is kept. Undefined when
 * that can be used no more.
 */
async function restoreParameters(
  { sql, submissions }: Engine,
  { endpoint, request, account_id: accountId }: ClaimedTask,
): Promise<JsonObject | undefined> {
  const source = submissions.get(endpoint)?.source
  if (!source) return undefined
  const row = await findSource(sql, accountId, source.id(request))
  try {
    return row && source.use(request, row)
  } catch (error) {
    if (error instanceof GatewayError) return undefined
    throw error
  }
}

/** Of what was created at that time: is there one task that can be nobody else's? */
async function readList(
  engine: Engine,
  task: ClaimedTask,
  { driver, wire, settings }: Reach,
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
  if (others.length > 0 || !(await isAlone(engine, task, only))) return { kind: 'ambiguous' }
  return { kind: 'found', upstreamId: only.upstreamId, means: 'list' }
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
