/**
 * From a held task to one that an upstream has, or clearly has not. Each try is an attempt of its
 * own, committed before its first byte; after an outcome that nobody knows there is no other try.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { withTransaction } from '../../database/transaction.ts'
import { isUnavailable, isUniqueViolation } from '../../database/unavailable.ts'
import { GatewayError } from '../../lib/errors.ts'
import { failpoint } from '../../lib/failpoint.ts'
import { newId } from '../../lib/ids.ts'
import { note } from '../../pipeline/send/dispatch.ts'
import { UpstreamFailure } from '../../upstreams/failure.ts'
import { attemptOf, type Engine, openTaskWire } from '../engine.ts'
import { costAtMost } from '../finish/charge-task.ts'
import { keepLease } from '../keep-lease.ts'
import { nextPollMs } from '../schedule.ts'
import {
  acceptTask,
  endAttempt,
  markSending,
  moveToAttempt,
  type NewAttempt,
  readHeld,
} from '../store.ts'
import type { ClaimedTask } from '../task.ts'
import { addEvent, addUnchargedCost } from '../timeline-store.ts'
import { type AnswerToKeep, keepTaskAnswer, noteUnknown } from './mark-unknown.ts'
import type { Plan, PlannedRoute } from './plan.ts'
import { type Means, meansOf } from './recovery-means.ts'

const ATTEMPTS_MAX = 3
/** While the database is away an accepted task is kept in memory this long. */
const ACCEPT_PATIENCE_MS = 60_000

/**
 * A task that an upstream has, or may have: without an upstream id its answer was lost, and it is
 * looked for. Or why there is none: no upstream took it.
 */
export type Submitted = { readonly task: ClaimedTask } | { readonly failure: UpstreamFailure }

/** Submits a task that this process has just created, by the first route that takes it. */
export async function submitTask(
  engine: Engine,
  created: ClaimedTask,
  routes: readonly [PlannedRoute, ...PlannedRoute[]],
): Promise<Submitted> {
  const letGo = keepLease(engine, created)
  try {
    return await tryRoutes(engine, created, routes)
  } finally {
    letGo()
  }
}

async function tryRoutes(
  engine: Engine,
  created: ClaimedTask,
  routes: readonly [PlannedRoute, ...PlannedRoute[]],
): Promise<Submitted> {
  let task = created
  for (let number = 1; ; number += 1) {
    const planned = routes[(number - 1) % routes.length] ?? routes[0]
    if (number > 1) task = await nextAttempt(engine, task, planned, number)
    const sent = await attempt(engine, task, planned)
    const outcome = typeof sent === 'string' ? await accept(engine, task, sent) : sent
    if (!(outcome instanceof UpstreamFailure)) return { task: outcome }
    if (outcome.kind === 'unknown') {
      const means = meansOfPlanned(engine, task, planned)
      return { task: await loseAnswer(engine, task, outcome, means) }
    }
    await noteRefusal(engine, task, outcome)
    if (!mayRetry(outcome, number, routes.length, engine)) return { failure: outcome }
  }
}

/**
 * The task whose submission has an unknown outcome. Never rejects: the upstream may be at work, so
 * the caller must get an id. What cannot be written now is written by whoever takes the lease.
 */
export async function loseAnswer(
  engine: Engine,
  task: ClaimedTask,
  { kind: reason, details }: UpstreamFailure,
  means: Means,
): Promise<ClaimedTask> {
  try {
    const { message: failure = reason, status } = details
    await noteUnknown(engine, task, { failure, reason, status, means })
    return (await readHeld(engine.sql, task.id)) ?? task
  } catch (error) {
    engine.services.log.warn({ task_id: task.id, error }, 'a lost submission is left to a worker')
    return task
  }
}

function meansOfPlanned(engine: Engine, task: ClaimedTask, planned: PlannedRoute): Means {
  const { driver, order } = planned
  return meansOf(driver, attemptOf(engine, { driver, ...order }, task.attempt_id))
}

/** The upstream's id, or why there is none. */
async function attempt(
  engine: Engine,
  task: ClaimedTask,
  { driver, order, route }: PlannedRoute,
): Promise<string | UpstreamFailure> {
  failpoint('task-held')
  if (!(await markSending(engine.sql, task.id, task.fence, task.attempt_id))) throw leaseLost()
  failpoint('task-sending')
  const wire = openTaskWire(engine, task, engine.times.submitTimeoutMs)
  try {
    const vendorAttempt = attemptOf(engine, { driver, ...order }, task.attempt_id)
    const { upstreamId } = await driver.submit(wire, order, vendorAttempt)
    failpoint('task-sent')
    note(route, undefined, engine.services)
    return upstreamId
  } catch (error) {
    // Whatever else went wrong, the request may have been carried out.
    const failure =
      error instanceof UpstreamFailure ? error : new UpstreamFailure('unknown', { cause: error })
    note(route, failure, engine.services)
    return failure
  }
}

export async function nextAttempt(
  engine: Engine,
  task: ClaimedTask,
  { route, prepared }: Plan,
  number: number,
): Promise<ClaimedTask> {
  const next: NewAttempt = {
    id: newId('att'),
    taskId: task.id,
    number,
    channelId: route.channel,
    channelVersion: route.target.version,
    upstreamModel: route.upstreamModel,
    upstreamCostVersion: route.cost?.version ?? null,
  }
  const moved = await withTransaction(engine.sql, (transaction) =>
    moveToAttempt(transaction, task.fence, next, prepared),
  )
  const read = moved ? await readHeld(engine.sql, task.id) : undefined
  if (!read) throw leaseLost()
  return read
}

export async function noteRefusal(
  engine: Engine,
  task: ClaimedTask,
  { kind: reason, details }: UpstreamFailure,
): Promise<void> {
  const { message = reason, status } = details
  await withTransaction(engine.sql, async (transaction) => {
    const refused = { state: 'refused', failure: message, status } as const
    await endAttempt(transaction, task.attempt_id, refused)
    await addEvent(transaction, task.id, 'attempt_refused', { channel: task.channel_id, reason })
  })
}

export function mayRetry(
  { kind }: UpstreamFailure,
  made: number,
  routes: number,
  { services }: Engine,
): boolean {
  if (kind === 'unknown' || kind === 'rejected' || made >= ATTEMPTS_MAX) return false
  const useful = made < routes || kind === 'not_sent'
  if (!useful || !services.retries.take(services.inFlight.size())) return false
  services.retries.done()
  return true
}

/**
 * Writes down what the upstream has taken, as often as it needs: it cannot be asked again. An id
 * that another attempt has says nothing of this one: the outcome is then unknown.
 */
export async function accept(
  engine: Engine,
  task: ClaimedTask,
  upstreamId: string,
  answer?: AnswerToKeep,
): Promise<ClaimedTask | UpstreamFailure> {
  const deadline = performance.now() + ACCEPT_PATIENCE_MS
  for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 2_000)) {
    try {
      return await acceptOnce(engine, task, upstreamId, answer)
    } catch (error) {
      if (isUniqueViolation(error)) {
        const message = 'an upstream id belongs to another attempt'
        engine.services.log.error({ task_id: task.id, channel: task.channel_id }, message)
        return new UpstreamFailure('unknown', { message, cause: error })
      }
      if (!isUnavailable(error) || performance.now() > deadline) {
        const fields = { task_id: task.id, upstream_id: upstreamId, error }
        engine.services.log.error(fields, 'an accepted submission is not written down')
        return new UpstreamFailure('unknown', { message: 'its id was not written', cause: error })
      }
      await sleep(waitMs)
    }
  }
}

async function acceptOnce(
  engine: Engine,
  task: ClaimedTask,
  upstreamId: string,
  answer: AnswerToKeep | undefined,
): Promise<ClaimedTask> {
  const accepted = await adopt(engine, task, upstreamId, { kind: 'submitted' }, answer)
  failpoint('task-accepted')
  if (accepted) return accepted
  // Another process took over in the meantime; it may have found the same id in the list.
  const found = await readHeld(engine.sql, task.id)
  if (found?.upstream_id === upstreamId) return found
  const uncharged = { reason: 'unknown_submit', upstreamId, cost: costAtMost(task) }
  await addUnchargedCost(engine.sql, task.attempt_id, uncharged)
  return found ?? task
}

/**
 * One transaction: the attempt has its upstream id, the task waits for its first look, and a
 * repeated request gets the same answer from now on. Undefined when the lease is lost.
 */
export async function adopt(
  engine: Engine,
  task: ClaimedTask,
  upstreamId: string,
  event: { readonly kind: 'submitted' | 'adopted'; readonly by?: Means },
  answer?: AnswerToKeep,
): Promise<ClaimedTask | undefined> {
  return withTransaction(engine.sql, async (transaction) => {
    const dueInMs = nextPollMs(0, engine.times)
    if (!(await acceptTask(transaction, task, upstreamId, dueInMs))) return undefined
    const { kind, ...by } = event
    await addEvent(transaction, task.id, kind, {
      channel: task.channel_id,
      upstream_id: upstreamId,
      ...by,
    })
    return keepTaskAnswer(engine, transaction, task, answer)
  })
}

/** What a creation is refused with whose task another process has taken over. */
export function leaseLost(): GatewayError {
  return new GatewayError('upstream_failed', { cause: new Error('the lease of a task was lost') })
}
