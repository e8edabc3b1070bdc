/**
 * Creates a task with its hold in one transaction. Repeats it while another transaction has locked
 * the account, and while the database is coming back.
 */
import type { TransactionSql } from 'postgres'
import { withTransaction } from '../../../base/database/transaction.ts'
import { isUnavailable, isUniqueViolation } from '../../../base/database/unavailable.ts'
import { type Context, noteRates, timed } from '../../../base/http/context.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import { newId } from '../../../base/lib/ids.ts'
import type { JsonObject } from '../../../base/lib/json.ts'
import { formatAmount } from '../../../base/lib/money.ts'
import type { Caller } from '../../../money/accounts/accounts.ts'
import { holdForTask, keepAnswer } from '../../../money/ledger/holds/task-holds.ts'
import { spliceJson } from '../../../wire/dialects/splice.ts'
import { UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import { countedQuantities } from '../../pipeline/hold/counted-quantities.ts'
import { pinBase } from '../../pipeline/hold/pin-base.ts'
import type { Quote } from '../../pipeline/hold/quote.ts'
import { explainRefusal, taskLimitsOf } from '../../pipeline/hold/take-hold.ts'
import { toGatewayError } from '../../pipeline/refusal.ts'
import type { ResolvedCall } from '../../pipeline/request/resolve.ts'
import { CHANNEL_FULL } from '../../pipeline/send/dispatch.ts'
import { insertBody, insertConversion } from '../call-store.ts'
import { type Engine, logTask } from '../engine.ts'
import {
  insertTask,
  markAnswerLost,
  type NewAttempt,
  type NewTask,
  type OwnTask,
  readClaimedTask,
} from '../store.ts'
import { encodeConversion } from '../stored-conversion.ts'
import type { TaskSubmission } from '../submission.ts'
import type { ClaimedTask } from '../task.ts'
import { addEvent } from '../timeline-store.ts'
import { whenUnlocked } from '../when-unlocked.ts'
import type { Plan } from './plan.ts'

/** As long as a call would wait for its hold. */
const LOCKED_PAUSES_MAX = 40
/** A recording that no worker has converted by then fails its task. */
const CONVERSION_MS_MAX = 6 * 3_600_000

export interface NewTaskOrder {
  readonly context: Context
  readonly submission: TaskSubmission
  readonly caller: Caller
  readonly call: ResolvedCall
  readonly parameters: JsonObject
  readonly plans: readonly [Plan, ...Plan[]]
  /** The quote that the hold reserves. */
  readonly quoted: Quote
  /** A worker converts the recording, and submits the task. */
  readonly converts?: boolean
}

/** Commits the hold, the task and its first attempt in one transaction. */
export async function createHeldTask(engine: Engine, order: NewTaskOrder): Promise<ClaimedTask> {
  const { caller, plans, quoted } = order
  const [{ route }] = plans
  const spending = engine.services.spending.begin(caller.currency)
  if (!spending.take(route.target, quoted.amountNanos)) {
    throw toGatewayError(new UpstreamFailure('busy', CHANNEL_FULL))
  }
  try {
    return await insertHeld(engine, order)
  } catch (error) {
    spending.free()
    throw error
  } finally {
    // From the next read on, the channel's open tasks count with their holds.
    spending.end()
  }
}

async function insertHeld(engine: Engine, order: NewTaskOrder): Promise<ClaimedTask> {
  const taskId = newId('task')
  const outcome = await timed(order.context, 'hold', () =>
    engine.services.whileAway(order.context, () =>
      whenUnlocked(engine.sql, order.caller.accountId, LOCKED_PAUSES_MAX, () =>
        insertOnce(engine, order, taskId),
      ),
    ),
  ).catch((error: unknown) => {
    if (!isUnavailable(error)) throw error
    throw new GatewayError('unavailable', { retryAfterSeconds: 2, cause: error })
  })
  if ('refused' in outcome) {
    const { caller, quoted } = order
    const { ledger } = engine.services
    throw await explainRefusal(outcome.refused, quoted.amountNanos, caller.accountId, ledger)
  }
  order.context.isAccepted = true
  const own = { id: taskId, account_id: order.caller.accountId }
  const task = await readClaimedTask(engine.sql, own)
  if (!task) throw new GatewayError('internal', { cause: `task ${taskId} was not written` })
  return task
}

/**
 * Inserts the task, unless an earlier attempt has committed without this process learning of it.
 */
async function insertOnce(engine: Engine, order: NewTaskOrder, taskId: string) {
  try {
    return await insert(engine, order, taskId)
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    const own = { id: taskId, account_id: order.caller.accountId }
    const task = await readClaimedTask(engine.sql, own)
    if (!task) throw error
    return { holdId: task.hold_id }
  }
}

async function insert(engine: Engine, order: NewTaskOrder, taskId: string) {
  const { context, submission, caller, call, plans } = order
  const { amountNanos, excessNanos } = order.quoted
  const [{ prepared }] = plans
  const { task, attempt } = toRows(engine, order, taskId)
  const counted = countedQuantities(call.model, prepared.quantities)
  const own = { id: taskId, account_id: caller.accountId }
  const taken = await withTransaction(engine.sql, async (transaction) => {
    const hold = await holdForTask(transaction, taskId, {
      requestId: context.requestId,
      accountId: caller.accountId,
      keyId: caller.keyId,
      endpoint: submission.endpoint,
      model: call.model.id,
      priceVersion: call.model.priceVersion,
      amountNanos,
      excessNanos,
      estimate: counted,
      labels: pinBase(context.labels, call.model),
      spendLimitNanos: caller.spendLimitNanos,
      limits: taskLimitsOf(caller, call.model, counted, (left) => noteRates(context, left)),
      idempotency: call.idempotency,
    })
    if ('refused' in hold) return hold
    // The statements are sent together, because all other calls of the account wait until the
    // commit.
    await Promise.all([
      insertTask(transaction, { ...task, holdId: hold.holdId }, attempt),
      addEvent(transaction, taskId, 'held', { amount: formatAmount(amountNanos) }),
    ])
    if (submission.call) {
      const { body: sent, fields } = call.request
      const body = spliceJson(sent, fields, { remove: submission.call.removed })
      await storeForWorker(transaction, submission, body, own)
    } else if (order.converts) {
      await insertConversion(transaction, taskId, caller.accountId)
      // No vendor has answered, so the caller gets our id.
      await markAnswerLost(transaction, own)
      const body = encodeConversion(order.parameters, call.request.value)
      await storeForWorker(transaction, submission, body, own)
    }
    if (submission.background) {
      await insertBody(transaction, taskId, submission.background.body(call.request))
    }
    return hold
  })
  if ('refused' in taken) return taken
  const row = {
    id: taskId,
    kind: task.kind,
    account_id: task.accountId,
    key_id: task.keyId,
    request_id: task.requestId,
    model: task.model,
    channel_id: attempt.channelId,
  }
  logTask(engine, row, 'task created', { status: task.state })
  return taken
}

function toRows(
  { times }: Engine,
  { context, submission, caller, call, parameters, plans, quoted, converts }: NewTaskOrder,
  taskId: string,
): { readonly task: Omit<NewTask, 'holdId'>; readonly attempt: NewAttempt } {
  const [{ route, prepared }] = plans
  const { callback_url: webhookUrl } = parameters
  const task: Omit<NewTask, 'holdId'> = {
    id: taskId,
    kind: submission.kind,
    accountId: caller.accountId,
    keyId: caller.keyId,
    requestId: context.requestId,
    endpoint: submission.endpoint,
    model: call.model.id,
    request: { ...submission.keep(parameters), ...prepared.effective },
    prepared,
    webhookUrl: typeof webhookUrl === 'string' ? webhookUrl : null,
    quote: submission.background || submission.call ? withoutAmount(quoted) : null,
    ageMsMax: times.ageMsMax,
    state: submission.call ? 'queued' : 'submitting',
    dueInMs: submission.call ? 0 : converts ? CONVERSION_MS_MAX : times.leaseMs,
  }
  const attempt: NewAttempt = {
    id: newId('att'),
    taskId,
    number: 1,
    channelId: route.channel,
    channelVersion: route.target.version,
    upstreamModel: route.upstreamModel,
    upstreamCostVersion: route.cost?.version ?? null,
  }
  return { task, attempt }
}

function withoutAmount({ amountNanos: _, excessNanos: __, ...rest }: Quote): JsonObject {
  return { ...rest }
}

/** Stores the request body for a worker, and the response for a repeated request. */
async function storeForWorker(
  transaction: TransactionSql,
  { answer }: TaskSubmission,
  stored: Buffer,
  task: OwnTask,
): Promise<void> {
  await insertBody(transaction, task.id, stored)
  const row = await readClaimedTask(transaction, task)
  if (!row) throw new Error(`task ${task.id} was not written`)
  const body = Buffer.from(JSON.stringify(answer(row)))
  await keepAnswer(transaction, row, {
    status: 200,
    contentType: 'application/json',
    body,
  })
}
