/**
 * Creates tasks: the verbs of every metered call up to the hold, then a submission that does not
 * depend on the caller's connection. The response is sent after its facts are committed.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { TransactionSql } from 'postgres'
import { withTransaction } from '../../../base/database/transaction.ts'
import { isLocked, isUnavailable } from '../../../base/database/unavailable.ts'
import type { Context } from '../../../base/http/context.ts'
import { noteRates, timed } from '../../../base/http/context.ts'
import { sendJson } from '../../../base/http/reply.ts'
import { GatewayError, invalidField } from '../../../base/lib/errors.ts'
import { failpoint } from '../../../base/lib/failpoint.ts'
import { newId } from '../../../base/lib/ids.ts'
import type { JsonObject } from '../../../base/lib/json.ts'
import { formatAmount } from '../../../base/lib/money.ts'
import type { Caller } from '../../../money/accounts/accounts.ts'
import { holdForTask, keepAnswer } from '../../../money/ledger/holds/task-holds.ts'
import { findUnlocked } from '../../../money/ledger/posting/move-store.ts'
import { UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import type { Upstream } from '../../../wire/upstreams/upstream.ts'
import { pinBase } from '../../pipeline/hold/pin-base.ts'
import type { Quote } from '../../pipeline/hold/quote.ts'
import { explainRefusal } from '../../pipeline/hold/take-hold.ts'
import { sendReplay } from '../../pipeline/meter.ts'
import type { Body } from '../../pipeline/metering.ts'
import { toGatewayError } from '../../pipeline/refusal.ts'
import { admit } from '../../pipeline/request/admit.ts'
import { enter } from '../../pipeline/request/enter.ts'
import { taskLimitsOf } from '../../pipeline/request/limits.ts'
import { type ResolvedCall, resolve } from '../../pipeline/request/resolve.ts'
import { CHANNEL_FULL } from '../../pipeline/send/dispatch.ts'
import type { Services } from '../../pipeline/services.ts'
import { insertBody, insertConversion } from '../call-store.ts'
import type { Engine } from '../engine.ts'
import { finish } from '../finish/finish.ts'
import { logTask } from '../log-task.ts'
import {
  insertTask,
  markAnswerLost,
  type NewAttempt,
  type NewTask,
  readClaimedTask,
} from '../store.ts'
import { encodeConversion } from '../stored-conversion.ts'
import type { TaskSubmission } from '../submission.ts'
import type { ClaimedTask } from '../task.ts'
import { addEvent } from '../timeline-store.ts'
import { findSource } from '../view-store.ts'
import { type Plan, type PlannedRoute, planCall, planRoutes, quoteTask } from './plan.ts'
import { submitTask } from './submit.ts'

const LOCKED_MS = 2_000
const LOCKED_PAUSE_MS = 50
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

type Routes = readonly [PlannedRoute, ...PlannedRoute[]]

/** Creates a task. Rejects with GatewayError for every refusal, after releasing the hold. */
export function createTask(
  context: Context,
  submission: TaskSubmission,
  engine: Engine,
): Promise<void> {
  return enter(context, engine.services, (caller) => create(context, submission, engine, caller))
}

async function create(
  context: Context,
  submission: TaskSubmission,
  engine: Engine,
  caller: Caller,
): Promise<void> {
  const { services } = engine
  const call = await resolve(context, submission, caller, services, (upstream) => {
    return canServe(upstream, submission)
  })
  if (await sendReplay(context, caller, call, services)) return
  const requested = await readParameters(submission, call, caller, engine)
  const firstPlan = planOrder(submission, call, requested, engine)
  await guardUrls(submission, requested, engine)
  const parameters = (await submission.inspect?.(requested, engine.ports)) ?? requested
  // Inspected parameters may change the price.
  const { plans, routes } =
    parameters === requested ? firstPlan : planOrder(submission, call, parameters, engine)
  admit(services)
  const unregister = services.inFlight.add({ abort: () => undefined })
  try {
    const quoted = quoteTask(call, plans)
    const converts = plans[0].prepared.untaken !== undefined
    const order = { context, submission, caller, call, parameters, plans, quoted, converts }
    const task = await createHeldTask(engine, order)
    failpoint('task-begun')
    if (routes && !converts) await submitAndAnswer(engine, order, routes, task)
    else sendJson(context, 200, submission.answer(task))
  } finally {
    unregister()
  }
}

/** Returns whether an upstream can run tasks of this endpoint. */
export function canServe({ tasks, calls }: Upstream, { kind, call }: TaskSubmission): boolean {
  return (call ? calls[call.metering.operation] : tasks?.[kind]) !== undefined
}

/**
 * Plans the routes of a creation. `routes` is undefined if a worker makes the call. Throws 400 for
 * a recording that no route takes and this gateway cannot convert.
 */
export function planOrder(
  { kind, call: deferred }: TaskSubmission,
  call: ResolvedCall,
  parameters: JsonObject,
  { services, ports }: Pick<Engine, 'services' | 'ports'>,
): Pick<NewTaskOrder, 'plans'> & { readonly routes: Routes | undefined } {
  if (deferred) return { plans: planCall(deferred.metering, call, services), routes: undefined }
  const routes = planRoutes(kind, call, parameters, services)
  const { untaken } = routes[0].prepared
  if (untaken && !ports.convertSound) throw toGatewayError(untaken, call.request.body)
  return { plans: routes, routes }
}

/** Returns the creation's parameters. Rejects with 404 if the source task is not the account's. */
export async function readParameters(
  submission: TaskSubmission,
  call: ResolvedCall,
  { accountId }: Pick<Caller, 'accountId'>,
  { sql, services }: Engine,
): Promise<JsonObject> {
  const parameters = submission.parameters(withoutIgnored(submission, call, services))
  const id = submission.source?.id(parameters)
  if (!submission.source || id === undefined) return parameters
  const source = await findSource(sql, accountId, id)
  if (!source) throw new GatewayError('not_found', { message: 'no such task' })
  return submission.source.use(parameters, source)
}

/** Returns the request without the fields that none of the model's routes reads. */
function withoutIgnored(
  { kind }: TaskSubmission,
  { request: { value }, routes }: ResolvedCall,
  { upstreams }: Services,
): Body {
  const ignored = routes.map(({ target }) => {
    return new Set(upstreams.get(target.upstream)?.tasks?.[kind]?.ignores)
  })
  const isRead = (name: string) => ignored.length === 0 || ignored.some((names) => !names.has(name))
  return Object.fromEntries(Object.entries(value).filter(([name]) => isRead(name)))
}

/** Rejects with a 400 that names the field of a forbidden URL. */
export async function guardUrls(
  submission: TaskSubmission,
  parameters: JsonObject,
  { ports }: Engine,
): Promise<void> {
  const webhookUrl = parameters.callback_url
  const webhook = typeof webhookUrl === 'string' ? [{ field: 'callback_url', url: webhookUrl }] : []
  for (const { field, url } of [...webhook, ...submission.urls(parameters)]) {
    const problem = await ports.judgeUrl(url)
    if (problem !== undefined) throw invalidField(field, problem)
  }
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
    whenUnlocked(engine, order.caller.accountId, () => insert(engine, order, taskId)),
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
  const task = await readClaimedTask(engine.sql, taskId)
  if (!task) throw new GatewayError('internal', { cause: `task ${taskId} was not written` })
  return task
}

/** Repeats `work` while another transaction has the account, for as long as a call would wait. */
async function whenUnlocked<T>(
  { sql }: Engine,
  accountId: string,
  work: () => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + LOCKED_MS
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isLocked(error)) throw error
      // Asked without waiting, so that a locked account does not use up the connections.
      while (!(await findUnlocked(sql, [accountId])).has(accountId)) {
        if (performance.now() > deadline) throw error
        await sleep(LOCKED_PAUSE_MS)
      }
      if (performance.now() > deadline) throw error
    }
  }
}

async function insert(engine: Engine, order: NewTaskOrder, taskId: string) {
  const { context, submission, caller, call, plans } = order
  const { amountNanos, excessNanos } = order.quoted
  const [{ prepared }] = plans
  const { task, attempt } = toRows(engine, order, taskId)
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
      estimate: prepared.quantities,
      labels: pinBase(context.labels, call.model),
      spendLimitNanos: caller.spendLimitNanos,
      limits: taskLimitsOf(caller, call.model, prepared.quantities, (left) =>
        noteRates(context, left),
      ),
      idempotency: call.idempotency,
    })
    if ('refused' in hold) return hold
    // Sent together: until the commit all other calls of the account wait.
    await Promise.all([
      insertTask(transaction, { ...task, holdId: hold.holdId }, attempt),
      addEvent(transaction, taskId, 'held', { amount: formatAmount(amountNanos) }),
    ])
    if (submission.call) {
      await storeForWorker(transaction, submission, submission.call.body(call.request), taskId)
    } else if (order.converts) {
      await insertConversion(transaction, taskId, caller.accountId)
      // No vendor has answered, so the caller gets our id.
      await markAnswerLost(transaction, taskId)
      const body = encodeConversion(order.parameters, call.request.value)
      await storeForWorker(transaction, submission, body, taskId)
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
    quote: submission.background ? withoutAmount(quoted) : null,
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
  taskId: string,
): Promise<void> {
  await insertBody(transaction, taskId, stored)
  const row = await readClaimedTask(transaction, taskId)
  if (!row) throw new Error(`task ${taskId} was not written`)
  const body = Buffer.from(JSON.stringify(answer(row)))
  await keepAnswer(transaction, row.hold_id, {
    status: 200,
    contentType: 'application/json',
    body,
  })
}

async function submitAndAnswer(
  engine: Engine,
  { context, submission, call }: NewTaskOrder,
  routes: Routes,
  task: ClaimedTask,
): Promise<void> {
  const submitted = await timed(context, 'upstream', () => submitTask(engine, task, routes))
  if ('task' in submitted) {
    context.facts.channel = submitted.task.channel_id
    if (submitted.task.upstream_id === null) context.facts.outcome = 'answer_lost'
    sendJson(context, 200, submission.answer(submitted.task))
    return
  }
  const { failure } = submitted
  const error = toGatewayError(failure, call.request.body)
  await releaseRefused(engine, task, failure, error.message)
  throw error
}

/**
 * Fails the task and releases its hold after a refusal. If this commit fails, a worker finds the
 * refused attempt and does the same.
 */
export async function releaseRefused(
  engine: Engine,
  created: ClaimedTask,
  failure: UpstreamFailure,
  message: string,
): Promise<void> {
  try {
    const task = (await readClaimedTask(engine.sql, created.id)) ?? created
    const code = failure.details.code ?? failure.kind
    await finish(engine, task, { state: 'failed', code, message }, { silent: true })
  } catch (error) {
    engine.services.log.warn({ task_id: created.id, error }, 'a refused task is left to a worker')
  }
}
