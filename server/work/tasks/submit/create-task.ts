/**
 * Creates tasks: the verbs of every metered call up to the hold, then a submission that does not
 * depend on the caller's connection. The response is sent after its facts are committed.
 */
import { type Context, timed } from '../../../base/http/context.ts'
import { sendJson } from '../../../base/http/reply.ts'
import { GatewayError, invalidField } from '../../../base/lib/errors.ts'
import type { JsonObject } from '../../../base/lib/json.ts'
import { failpoint } from '../../../base/lib/process/failpoint.ts'
import type { Caller } from '../../../money/accounts/accounts.ts'
import type { UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import type { Upstream } from '../../../wire/upstreams/upstream.ts'
import type { Quote } from '../../pipeline/hold/quote.ts'
import { admit } from '../../pipeline/hold/take-hold.ts'
import { sendReplay } from '../../pipeline/meter.ts'
import type { Body } from '../../pipeline/metering.ts'
import { toGatewayError } from '../../pipeline/refusal.ts'
import { enter } from '../../pipeline/request/identify.ts'
import { type ResolvedCall, resolve } from '../../pipeline/request/resolve.ts'
import type { Services } from '../../pipeline/services.ts'
import type { Engine } from '../engine.ts'
import { finish } from '../finish/finish.ts'
import { readClaimedTask } from '../store.ts'
import type { TaskSubmission } from '../submission.ts'
import type { ClaimedTask } from '../task.ts'
import { findSource } from '../view-store.ts'
import { createHeldTask, type NewTaskOrder } from './hold-task.ts'
import { type PlannedRoute, planCall, planRoutes, quoteTask } from './plan.ts'
import { submitTask } from './submit.ts'

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
  const { plans, routes, quote } =
    parameters === requested ? firstPlan : planOrder(submission, call, parameters, engine)
  admit(services)
  const unregister = services.inFlight.add({ abort: () => undefined })
  try {
    const quoted = quote()
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

interface PlannedOrder extends Pick<NewTaskOrder, 'plans'> {
  readonly routes: Routes | undefined
  /** Returns the quote that the hold reserves. Throws a 400 for what has no price. */
  readonly quote: () => Quote
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
): PlannedOrder {
  if (deferred) {
    const { plans, quoted } = planCall(deferred, call, services)
    return { plans, routes: undefined, quote: () => quoted }
  }
  const routes = planRoutes(kind, call, parameters, services)
  const { untaken } = routes[0].prepared
  if (untaken && !ports.convertSound) throw toGatewayError(untaken, call.request.body)
  return { plans: routes, routes, quote: () => quoteTask(call, routes) }
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
    const task = (await readClaimedTask(engine.sql, created)) ?? created
    const code = failure.details.code ?? failure.kind
    await finish(engine, task, { state: 'failed', code, message }, { silent: true })
  } catch (error) {
    engine.services.log.warn({ task_id: created.id, error }, 'a worker will end a refused task')
  }
}
