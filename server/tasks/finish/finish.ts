/**
 * The single door to a terminal state: the compare-and-set on the task, its money, its record,
 * its announcement and its timeline are one commit. Two workers cannot both pass it.
 */
import type { TransactionSql } from 'postgres'
import type { ResultContent } from '../../assets/library/keep-content.ts'
import { withTransaction } from '../../database/transaction.ts'
import { settleTask } from '../../ledger/holds/task-holds.ts'
import { failpoint } from '../../lib/failpoint.ts'
import type { JsonObject } from '../../lib/json.ts'
import { formatAmount } from '../../lib/money.ts'
import { deleteBody } from '../call-store.ts'
import type { Engine } from '../engine.ts'
import { closeTask, endAttempt } from '../store.ts'
import type { ClaimedTask, TaskRow } from '../task.ts'
import { addEvent, addUnchargedCost, listAttempts } from '../timeline-store.ts'
import { chargeTask, costAtMost, type TaskCharge, type TaskEnding } from './charge-task.ts'

export interface FinishOptions {
  /** What is owed, where the ending alone does not tell it. */
  readonly charge?: TaskCharge
  /** The caller was answered synchronously and never got an id. */
  readonly silent?: boolean
  /** Why the upstream may bill what no caller pays. */
  readonly unchargedReason?: string
  readonly upstreamId?: string
  /** How the attempt under way ended, where that is known only now. */
  readonly attempt?: Parameters<typeof endAttempt>[2]
  /** What the timeline says before the end. */
  readonly story?: { readonly kind: string; readonly detail: JsonObject }
  /** Content of the result that is in storage already. */
  readonly kept?: readonly ResultContent[]
  /** What only the request says and whoever hears of the end may want. */
  readonly remembered?: JsonObject
}

/** Ends a task. False when this process no longer had the right to. */
export async function finish(
  engine: Engine,
  task: ClaimedTask,
  ending: TaskEnding,
  options: FinishOptions = {},
): Promise<boolean> {
  const charge = options.charge ?? chargeTask(task, ending)
  failpoint('task-finish')
  const done = await withTransaction(engine.sql, (transaction) =>
    close(engine, transaction, task, ending, charge, options),
  )
  failpoint('task-finished')
  if (!done) return false
  engine.services.metrics.settled({ basis: charge.basis, review: charge.review })
  if (charge.review)
    engine.services.log.error({ task_id: task.id }, 'the charge is not what the upstream stated')
  if (options.unchargedReason) {
    const fields = { task_id: task.id, channel: task.channel_id, reason: options.unchargedReason }
    engine.services.log.error(fields, 'an upstream may bill what nobody is charged for')
  }
  return true
}

async function close(
  engine: Engine,
  transaction: TransactionSql,
  task: ClaimedTask,
  ending: TaskEnding,
  charge: TaskCharge,
  options: FinishOptions,
): Promise<boolean> {
  const succeeded = ending.state === 'succeeded'
  const closed = await closeTask(transaction, task, {
    state: ending.state,
    result: succeeded ? ending.result : null,
    usage: succeeded ? (ending.usage ?? null) : null,
    code: succeeded ? null : ending.code.slice(0, 200),
    message: succeeded ? null : ending.message.slice(0, 1000),
    silent: options.silent ?? false,
  })
  if (!closed) return false
  if (options.attempt) await endAttempt(transaction, task.attempt_id, options.attempt)
  await settleTask(transaction, task.hold_id, {
    chargeNanos: charge.nanos,
    status: succeeded ? 'succeeded' : ending.cancelled ? 'cancelled' : 'failed',
    basis: charge.basis,
    review: charge.review,
    lines: charge.lines,
    // What is noted as an orphan's is not the record's as well.
    cost: options.unchargedReason ? null : charge.cost,
    attempts: await describeAttempts(transaction, task.id),
    ...(succeeded ? {} : { error: ending.message.slice(0, 500) }),
  })
  await tell(transaction, closed, charge, options)
  if (options.unchargedReason) {
    const { unchargedReason, upstreamId = null } = options
    const cost = costAtMost(task)
    await addUnchargedCost(transaction, task.attempt_id, {
      reason: unchargedReason,
      upstreamId,
      cost,
    })
  }
  await enqueueWebhook(engine, transaction, closed)
  const { call, background } = engine.submissions.get(task.endpoint) ?? {}
  if (call || background) await deleteBody(transaction, task.id)
  if (succeeded) {
    const succeededTask = { ...closed, request: { ...closed.request, ...options.remembered } }
    await engine.ports.onSucceeded?.(transaction, succeededTask, options.kept ?? [])
  }
  return true
}

async function describeAttempts(transaction: TransactionSql, taskId: string) {
  const rows = await listAttempts(transaction, taskId)
  return rows.map(({ channel_id: channel, upstream_model, state, status, milliseconds }) => ({
    channel,
    upstream_model,
    outcome: state,
    ...(status === null ? {} : { status }),
    milliseconds,
  }))
}

async function tell(
  transaction: TransactionSql,
  task: TaskRow,
  charge: TaskCharge,
  options: FinishOptions,
): Promise<void> {
  const { story } = options
  if (story) await addEvent(transaction, task.id, story.kind, story.detail)
  const code = task.error_code === null ? {} : { code: task.error_code }
  await addEvent(transaction, task.id, task.state, code)
  const money =
    charge.nanos === null
      ? { released: true }
      : { charged: formatAmount(charge.nanos), basis: charge.basis }
  await addEvent(transaction, task.id, charge.nanos === null ? 'released' : 'settled', {
    ...money,
    ...(options.unchargedReason ? { orphan_cost: options.unchargedReason } : {}),
  })
}

async function enqueueWebhook(
  engine: Engine,
  transaction: TransactionSql,
  task: TaskRow,
): Promise<void> {
  if (task.webhook_url === null) return
  const submission = engine.submissions.get(task.endpoint)
  if (!submission || !engine.ports.enqueueDelivery) return
  await engine.ports.enqueueDelivery(transaction, {
    accountId: task.account_id,
    taskId: task.id,
    kind: task.kind,
    url: task.webhook_url,
    body: JSON.stringify(submission.webhookBody(task)),
  })
}
