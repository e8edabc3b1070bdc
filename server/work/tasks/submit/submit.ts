/**
 * Submits a held task to an upstream. Each try is an attempt of its own, committed before it is
 * sent; after an unknown outcome there is no other attempt.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { withTransaction } from '../../../base/database/transaction.ts'
import { isUnavailable, isUniqueViolation } from '../../../base/database/unavailable.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import { newId } from '../../../base/lib/ids.ts'
import { failpoint } from '../../../base/lib/process/failpoint.ts'
import { readCreationFailure, UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import { reportAttempt } from '../../pipeline/send/dispatch.ts'
import { type Engine, keepLease, logTask, openTaskWire, vendorAttemptOf } from '../engine.ts'
import { maximumUpstreamCost } from '../finish/charge-task.ts'
import { nextPollMs } from '../schedule.ts'
import {
  acceptTask,
  correctUpstreamId,
  endAttempt,
  markSending,
  moveToAttempt,
  type NewAttempt,
  readClaimedTask,
} from '../store.ts'
import type { ClaimedTask } from '../task.ts'
import { addEvent, addUnchargedCost } from '../timeline-store.ts'
import { judgeAnswer } from './judge-answer.ts'
import { lookUpSubmission, recordAbsence } from './look-up.ts'
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
  const first = created.attempt_number
  for (let number = first; ; number += 1) {
    const planned = routes[(number - first) % routes.length] ?? routes[0]
    if (number > first) task = await nextAttempt(engine, task, planned, number)
    const result = await attempt(engine, task, planned)
    const ended =
      typeof result === 'string'
        ? await acceptOrLose(engine, task, planned, result)
        : await resolveFailure(engine, task, planned, result)
    if (!(ended instanceof UpstreamFailure)) return { task: ended }
    if (!mayRetry(ended, number, routes.length, engine)) return { failure: ended }
  }
}

/**
 * Records a failed attempt. Returns the failure if no upstream has the task, so that another route
 * may be tried; the task if it was found after all, or may exist.
 */
async function resolveFailure(
  engine: Engine,
  task: ClaimedTask,
  planned: PlannedRoute,
  failure: UpstreamFailure,
): Promise<ClaimedTask | UpstreamFailure> {
  if (failure.kind !== 'unknown') {
    await recordRefusal(engine, task, failure)
    return failure
  }
  const found = await lookUpSubmission(engine, task, planned, failure)
  if (found.kind === 'absent') {
    await recordAbsence(engine, task, found.failure)
    return found.failure
  }
  if (found.kind === 'unknown') return await recordLostAnswer(engine, task, failure, found.method)
  return await acceptOrLose(engine, task, planned, found.upstreamId, found.method)
}

/** Records the upstream's id, or else that the outcome is unknown. */
async function acceptOrLose(
  engine: Engine,
  task: ClaimedTask,
  { driver, order }: PlannedRoute,
  upstreamId: string,
  by?: RecoveryMethod,
): Promise<ClaimedTask> {
  const accepted = await accept(engine, task, upstreamId, by ? { by } : {})
  if (!(accepted instanceof UpstreamFailure)) return accepted
  const vendorAttempt = vendorAttemptOf(engine, { driver, ...order }, task.attempt_id)
  return await recordLostAnswer(engine, task, accepted, recoveryMethodOf(driver, vendorAttempt))
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
    return (await readClaimedTask(engine.sql, task)) ?? task
  } catch (error) {
    engine.services.log.warn({ task_id: task.id, error }, 'a worker will look up a lost submission')
    return task
  }
}

/** Makes one attempt. Returns the upstream's id, or why there is none. */
async function attempt(
  engine: Engine,
  task: ClaimedTask,
  { driver, order, route }: PlannedRoute,
): Promise<string | UpstreamFailure> {
  failpoint('task-held')
  if (!(await markSending(engine.sql, task, engine.times.leaseMs))) throw leaseLost()
  failpoint('task-sending')
  const wire = openTaskWire(engine, task, engine.times.submitTimeoutMs)
  try {
    const vendorAttempt = vendorAttemptOf(engine, { driver, ...order }, task.attempt_id)
    const submitted = await driver.submit(wire, order, vendorAttempt)
    failpoint('task-sent')
    const refusal = await judgeAnswer(engine, task, submitted)
    reportAttempt(route, refusal, engine.services, task)
    return refusal ?? submitted.upstreamId
  } catch (error) {
    // After an unexpected error the upstream may have accepted the request.
    const failure =
      error instanceof UpstreamFailure
        ? readCreationFailure(error)
        : new UpstreamFailure('unknown', { cause: error })
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
    moveToAttempt(transaction, task, next, prepared),
  )
  const current = isMoved ? await readClaimedTask(engine.sql, task) : undefined
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

interface Acceptance {
  /** The method that found it; by default the submission was answered. */
  readonly by?: RecoveryMethod
  readonly answer?: AnswerToKeep
}

/**
 * Records the upstream's id of an accepted submission, with retries, since a submission must not be
 * repeated. If the id belongs to another attempt, the outcome is unknown.
 */
export async function accept(
  engine: Engine,
  task: ClaimedTask,
  upstreamId: string,
  accepted: Acceptance = {},
): Promise<ClaimedTask | UpstreamFailure> {
  const deadline = performance.now() + ACCEPT_RETRY_MS
  for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 2_000)) {
    try {
      return await acceptOnce(engine, task, upstreamId, accepted)
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
  { by, answer }: Acceptance,
): Promise<ClaimedTask> {
  const event = by ? ({ kind: 'adopted', by } as const) : ({ kind: 'submitted' } as const)
  const accepted = await adopt(engine, task, upstreamId, event, answer)
  failpoint('task-accepted')
  if (accepted) return accepted
  // A worker has recovered the same id, or the task has ended or moved on.
  const current = await readClaimedTask(engine.sql, task)
  if (current?.upstream_id === upstreamId) return current
  if (by === undefined && (await correct(engine, task, upstreamId))) {
    return (await readClaimedTask(engine.sql, task)) ?? task
  }
  const uncharged = { reason: 'unknown_submit', upstreamId, cost: maximumUpstreamCost(task) }
  await addUnchargedCost(engine.sql, task.attempt_id, uncharged)
  return current ?? task
}

/** Uses the answer's id if a worker has adopted another one that only a callback named. */
async function correct(engine: Engine, task: ClaimedTask, upstreamId: string): Promise<boolean> {
  const isCorrected = await withTransaction(engine.sql, async (transaction) => {
    if (!(await correctUpstreamId(transaction, task, upstreamId))) return false
    const detail = { channel: task.channel_id, upstream_id: upstreamId }
    await addEvent(transaction, task.id, 'submitted', detail)
    return true
  })
  const fields = { task_id: task.id, channel: task.channel_id, upstream_id: upstreamId }
  if (isCorrected) engine.services.log.warn(fields, 'a vendor callback had named another task')
  return isCorrected
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
  const adopted = await withTransaction(engine.sql, async (transaction) => {
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
  if (adopted) {
    const outcome = event.by === undefined ? {} : { outcome: event.by }
    logTask(engine, adopted, 'task submitted', { upstream_id: upstreamId, ...outcome })
  }
  return adopted
}

/** Returns the error of a creation whose task another process has claimed. */
export function leaseLost(): GatewayError {
  return new GatewayError('upstream_failed', { cause: new Error('the lease of a task was lost') })
}
