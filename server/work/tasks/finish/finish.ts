/**
 * Ends tasks. The compare-and-set into the terminal state, the settlement, the record, the webhook
 * delivery and the timeline are one commit, which only one of two workers can make.
 */
import type { TransactionSql } from 'postgres'
import { withTransaction } from '../../../base/database/transaction.ts'
import type { JsonObject } from '../../../base/lib/json.ts'
import { formatAmount } from '../../../base/lib/money.ts'
import { failpoint } from '../../../base/lib/process/failpoint.ts'
import { redactInternals } from '../../../base/lib/text/redact-internals.ts'
import { settleTask } from '../../../money/ledger/holds/task-holds.ts'
import type { ResultContent } from '../../assets/library/keep-content.ts'
import { knownIn } from '../../pipeline/refusal.ts'
import { quantitiesOf } from '../../pipeline/settle.ts'
import { deleteBody, deleteConversion } from '../call-store.ts'
import { type Engine, logTask } from '../engine.ts'
import { closeTask, endAttempt } from '../store.ts'
import type { ClaimedTask, TaskRow } from '../task.ts'
import { addEvent, addUnchargedCost, listAttempts } from '../timeline-store.ts'
import { readCharge } from '../view-store.ts'
import { whenUnlocked } from '../when-unlocked.ts'
import { chargeTask, maximumUpstreamCost, type TaskCharge, type TaskEnding } from './charge-task.ts'

/** Far less than the lease, which not every caller renews. */
const LOCKED_PAUSES_MAX = 200

export interface FinishOptions {
  /** The charge, if it does not follow from the ending. */
  readonly charge?: TaskCharge
  /** The caller got the error synchronously and no id: send no webhook and list no task. */
  readonly silent?: boolean
  /** The reason of an upstream cost that no caller is charged. */
  readonly unchargedReason?: string
  readonly upstreamId?: string
  /** The outcome of the current attempt, if it is not recorded yet. */
  readonly attempt?: Parameters<typeof endAttempt>[2]
  /** A timeline event before the end. */
  readonly precedingEvent?: { readonly kind: string; readonly detail: JsonObject }
  /** Content of the result that is already stored. */
  readonly contents?: readonly ResultContent[]
  /** Members of the request for the gallery entry. */
  readonly galleryDetails?: JsonObject
}

/** Ends a task, once no other transaction has its account. False when the lease is lost. */
export async function finish(
  engine: Engine,
  task: ClaimedTask,
  ending: TaskEnding,
  options: FinishOptions = {},
): Promise<boolean> {
  const charge = options.charge ?? chargeTask(task, ending)
  failpoint('task-finish')
  const isEnded = await whenUnlocked(engine.sql, task.account_id, LOCKED_PAUSES_MAX, () =>
    withTransaction(engine.sql, (transaction) =>
      close(engine, transaction, task, ending, charge, options),
    ),
  )
  failpoint('task-finished')
  if (!isEnded) return false
  countEnding(engine, task, ending, charge)
  logTask(engine, task, 'task ended', {
    status: ending.state,
    code: ending.state === 'failed' ? ending.code.slice(0, 200) : undefined,
    charged: formatAmount(charge.nanos ?? 0n),
    outcome: charge.basis,
  })
  if (charge.review)
    engine.services.log.error({ task_id: task.id }, 'the charge is not what the upstream stated')
  if (options.unchargedReason) {
    const fields = { task_id: task.id, channel: task.channel_id, reason: options.unchargedReason }
    engine.services.log.error(fields, 'an upstream may bill a cost that no caller is charged')
  }
  return true
}

function countEnding(
  { services }: Engine,
  task: ClaimedTask,
  ending: TaskEnding,
  charge: TaskCharge,
): void {
  const succeeded = ending.state === 'succeeded'
  const { endpoint, model, channel_id: channel } = task
  services.metrics.settled({
    endpoint,
    model,
    channel,
    status: succeeded ? 'succeeded' : ending.cancelled ? 'cancelled' : 'failed',
    basis: charge.basis,
    review: charge.review,
    quantities: quantitiesOf(charge),
    chargedNanos: charge.nanos ?? 0n,
    upstreamCostNanos: charge.cost?.nanos ?? 0n,
    currency: task.currency ?? services.catalog.snapshot().models.get(model)?.currency ?? '',
  })
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
  const endedTask = await closeTask(transaction, task, {
    state: ending.state,
    result: succeeded ? ending.result : null,
    usage: succeeded ? (ending.usage ?? null) : null,
    code: succeeded ? null : ending.code.slice(0, 200),
    message: succeeded ? null : ending.message.slice(0, 1000),
    silent: options.silent ?? false,
  })
  if (!endedTask) return false
  if (options.attempt) await endAttempt(transaction, task.attempt_id, options.attempt)
  await settleTask(transaction, task, {
    chargeNanos: charge.nanos,
    status: succeeded ? 'succeeded' : ending.cancelled ? 'cancelled' : 'failed',
    basis: charge.basis,
    review: charge.review,
    lines: charge.lines,
    // An uncharged cost is recorded separately, not in the call's record as well.
    cost: options.unchargedReason ? null : charge.cost,
    attempts: await describeAttempts(transaction, task.id),
    ...(succeeded ? {} : { error: ending.message.slice(0, 500) }),
  })
  await addEndEvents(transaction, endedTask, charge, options)
  if (options.unchargedReason) {
    const { unchargedReason, upstreamId = null } = options
    const cost = maximumUpstreamCost(task)
    await addUnchargedCost(transaction, task.attempt_id, {
      reason: unchargedReason,
      upstreamId,
      cost,
    })
  }
  const { call, background, recording } = engine.submissions.get(task.endpoint) ?? {}
  if (call || background || recording) await deleteBody(transaction, task.id)
  if (recording) {
    await deleteConversion(transaction, task)
    await engine.ports.unpublish(transaction, task)
  }
  let { result } = endedTask
  if (succeeded) {
    const request = { ...endedTask.request, ...options.galleryDetails }
    const added = { ...endedTask, request }
    result = await engine.ports.addToLibrary(transaction, added, options.contents ?? [])
  }
  await enqueueWebhook(engine, transaction, { ...endedTask, result })
  return true
}

/** Characters of a failure's reason that a record keeps. */
const REASON_MAX = 300

async function describeAttempts(transaction: TransactionSql, taskId: string) {
  const rows = await listAttempts(transaction, taskId)
  return rows.map(({ channel_id: channel, state, status, failure, ...one }) => ({
    channel,
    upstream_model: one.upstream_model,
    outcome: state,
    ...(status === null ? {} : { status }),
    ...(failure === null ? {} : { reason: failure.slice(0, REASON_MAX) }),
    milliseconds: one.milliseconds,
  }))
}

async function addEndEvents(
  transaction: TransactionSql,
  task: TaskRow,
  charge: TaskCharge,
  options: FinishOptions,
): Promise<void> {
  const { precedingEvent: event } = options
  if (event) await addEvent(transaction, task.id, event.kind, event.detail)
  const code = task.error_code === null ? {} : { code: task.error_code }
  await addEvent(transaction, task.id, task.state, code)
  const money =
    charge.nanos === null
      ? { released: true }
      : { charged: formatAmount(charge.nanos), basis: charge.basis }
  await addEvent(transaction, task.id, charge.nanos === null ? 'released' : 'settled', {
    ...money,
    uncharged_cost: options.unchargedReason,
  })
}

async function enqueueWebhook(
  engine: Engine,
  transaction: TransactionSql,
  task: TaskRow,
): Promise<void> {
  if (task.webhook_url === null) return
  const submission = engine.submissions.get(task.endpoint)
  if (!submission) return
  const charge = await readCharge(transaction, task)
  await engine.ports.enqueueDelivery(transaction, {
    accountId: task.account_id,
    taskId: task.id,
    kind: task.kind,
    url: task.webhook_url,
    body: JSON.stringify(submission.webhookBody({ ...task, charge })),
  })
}

/** Removes the vendor's addresses, paths and keys, unless the caller's own request names them. */
export function hideInEnding(ending: TaskEnding, requestText: Buffer | string): TaskEnding {
  if (ending.state === 'succeeded') return ending
  const known = knownIn(requestText)
  const { code, message } = ending
  return { ...ending, code: redactInternals(code, known), message: redactInternals(message, known) }
}
