/**
 * Submits a held task to an upstream. Each try is an attempt of its own, committed before it is
 * sent; after an unknown outcome there is no other attempt.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { withTransaction } from '../../database/transaction.ts'
import { isUnavailable, isUniqueViolation } from '../../database/unavailable.ts'
import { GatewayError } from '../../lib/errors.ts'
import { failpoint } from '../../lib/failpoint.ts'
import { newId } from '../../lib/ids.ts'
import { reportAttempt } from '../../pipeline/send/dispatch.ts'
import { UpstreamFailure } from '../../upstreams/failure.ts'
import { type Engine, openTaskWire, vendorAttemptOf } from '../engine.ts'
import { maximumUpstreamCost } from '../finish/charge-task.ts'
import { keepLease } from '../keep-lease.ts'
import { nextPollMs } from '../schedule.ts'
import {
  acceptTask,
  endAttempt,
  markSending,
  moveToAttempt,
  type NewAttempt,
  readClaimedTask,
} from '../store.ts'
import type { ClaimedTask } from '../task.ts'
import { addEvent, addUnchargedCost } from '../timeline-store.ts'
import { type AnswerToKeep, keepTaskAnswer, markUnknown } from './mark-unknown.ts'
import type { Plan, PlannedRoute } from './plan.ts'
import { type RecoveryMethod, recoveryMethodOf } from './recovery-method.ts'

const ATTEMPTS_MAX = 3
/** Time for retries of the write of an accepted submission while the database is unavailable. */
const ACCEPT_RETRY_MS = 60_000

/**
 * `task`: an upstream accepted it, or may have: without an upstream id its answer was lost and
 * reconciliation follows. `failure`: no upstream accepted it.
 */
export type Submitted = { readonly task: ClaimedTask } | { readonly failure: UpstreamFailure }

/** Submits a task that this process has just created, by the first route that takes it. */
export async function submitTask(
  engine: Engine,
  created: ClaimedTask,
  routes: readonly [PlannedRoute, ...PlannedRoute[]],
): Promise<Submitted> {
  const stopRenewal = keepLease(engine, created)
  try {
    return await tryRoutes(engine, created, routes)
  } finally {
    stopRenewal()
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
    const result = await attempt(engine, task, planned)
    const outcome = typeof result === 'string' ? await accept(engine, task, result) : result
    if (!(outcome instanceof UpstreamFailure)) return { task: outcome }
    if (outcome.kind === 'unknown') {
      const method = plannedRecoveryMethod(engine, task, planned)
      return { task: await recordLostAnswer(engine, task, outcome, method) }
    }
    await recordRefusal(engine, task, outcome)
    if (!mayRetry(outcome, number, routes.length, engine)) return { failure: outcome }
  }
}

/**
 * Marks a submission's outcome as unknown and returns the task. Never rejects: the upstream may be
 * at work, so the caller must get an id. If the write fails, the next claim repeats it.
 */
export async function recordLostAnswer(
  engine: Engine,
  task: ClaimedTask,
  { kind: reason, details }: UpstreamFailure,
  method: RecoveryMethod,
): Promise<ClaimedTask> {
  try {
    const { message: failure = reason, status } = details
    await markUnknown(engine, task, { failure, reason, status, method })
    return (await readClaimedTask(engine.sql, task.id)) ?? task
  } catch (error) {
    engine.services.log.warn({ task_id: task.id, error }, 'a lost submission is left to a worker')
    return task
  }
}

function plannedRecoveryMethod(
  engine: Engine,
  task: ClaimedTask,
  planned: PlannedRoute,
): RecoveryMethod {
  const { driver, order } = planned
  return recoveryMethodOf(driver, vendorAttemptOf(engine, { driver, ...order }, task.attempt_id))
}

/** Makes one attempt. Returns the upstream's id, or why there is none. */
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
    const vendorAttempt = vendorAttemptOf(engine, { driver, ...order }, task.attempt_id)
    const { upstreamId } = await driver.submit(wire, order, vendorAttempt)
    failpoint('task-sent')
    reportAttempt(route, undefined, engine.services, task)
    return upstreamId
  } catch (error) {
    // After an unexpected error the upstream may have accepted the request.
    const failure =
      error instanceof UpstreamFailure ? error : new UpstreamFailure('unknown', { cause: error })
    reportAttempt(route, failure, engine.services, task)
    return failure
  }
}

/** Makes the next attempt current, for its planned route. Rejects when the lease is lost. */
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
  const isMoved = await withTransaction(engine.sql, (transaction) =>
    moveToAttempt(transaction, task.fence, next, prepared),
  )
  const current = isMoved ? await readClaimedTask(engine.sql, task.id) : undefined
  if (!current) throw leaseLost()
  return current
}

/** Records that the upstream refused an attempt. */
export async function recordRefusal(
  engine: Engine,
  task: ClaimedTask,
  { kind: reason, details }: UpstreamFailure,
): Promise<void> {
  const { message = reason, status } = details
  await withTransaction(engine.sql, async (transaction) => {
    const outcome = { state: 'refused', failure: message, status } as const
    await endAttempt(transaction, task.attempt_id, outcome)
    await addEvent(transaction, task.id, 'attempt_refused', { channel: task.channel_id, reason })
  })
}

/** Returns whether another attempt is useful and within the retry budget. */
export function mayRetry(
  { kind }: UpstreamFailure,
  attempts: number,
  routes: number,
  { services }: Engine,
): boolean {
  if (kind === 'unknown' || kind === 'rejected' || attempts >= ATTEMPTS_MAX) return false
  const isUseful = attempts < routes || kind === 'not_sent'
  if (!isUseful || !services.retries.take(services.inFlight.size())) return false
  services.retries.done()
  return true
}

/**
 * Records the upstream's id of an accepted submission, with retries, since a submission must not be
 * repeated. If the id belongs to another attempt, the outcome is unknown.
 */
export async function accept(
  engine: Engine,
  task: ClaimedTask,
  upstreamId: string,
  answer?: AnswerToKeep,
): Promise<ClaimedTask | UpstreamFailure> {
  const deadline = performance.now() + ACCEPT_RETRY_MS
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
        engine.services.log.error(fields, 'an accepted submission could not be recorded')
        const message = 'the upstream id could not be recorded'
        return new UpstreamFailure('unknown', { message, cause: error })
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
  // The lease is lost; the process that has it may have recovered the same id.
  const current = await readClaimedTask(engine.sql, task.id)
  if (current?.upstream_id === upstreamId) return current
  const uncharged = { reason: 'unknown_submit', upstreamId, cost: maximumUpstreamCost(task) }
  await addUnchargedCost(engine.sql, task.attempt_id, uncharged)
  return current ?? task
}

/**
 * In one transaction, records the upstream id, schedules the first poll and keeps the response for
 * repeated requests. Returns undefined when the lease is lost.
 */
export async function adopt(
  engine: Engine,
  task: ClaimedTask,
  upstreamId: string,
  event: { readonly kind: 'submitted' | 'adopted'; readonly by?: RecoveryMethod },
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

/** Returns the error of a creation whose task another process has claimed. */
export function leaseLost(): GatewayError {
  return new GatewayError('upstream_failed', { cause: new Error('the lease of a task was lost') })
}
