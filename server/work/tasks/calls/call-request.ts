/** Prepares a deferred call: the caller's request, and an upstream route that serves it. */
import { withTransaction } from '../../../base/database/transaction.ts'
import { newId } from '../../../base/lib/ids.ts'
import { parseRequestJson } from '../../../wire/dialects/request-json/parse.ts'
import { UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import type { CallAdapter, CallRequest, Upstream } from '../../../wire/upstreams/upstream.ts'
import type { Metering } from '../../pipeline/metering.ts'
import { findRoutes, orderRoutes, type UsableRoute } from '../../pipeline/request/find-routes.ts'
import { type Engine, openChannel } from '../engine.ts'
import { moveToAttempt, readClaimedTask } from '../store.ts'
import type { DeferredCall } from '../submission.ts'
import type { ClaimedTask } from '../task.ts'
import { listAttempts } from '../timeline-store.ts'

/**
 * The minimum timeout: no caller waits, and an abandoned call may cost as much as a completed one.
 */
const TIMEOUT_MS_MIN = 300_000

export interface CallTarget {
  readonly adapter: CallAdapter<unknown>
  readonly settings: unknown
  readonly timeoutMs: number
}

/** Rebuilds the request from its stored body, which was validated at the creation. */
export function rebuildRequest(task: ClaimedTask, metering: Metering, body: Buffer): CallRequest {
  const parsed = parseRequestJson(body)
  if (!parsed.ok) throw new Error(`the body of ${task.id}: ${parsed.message}`)
  const { value, fields } = parsed
  return {
    body,
    fields,
    value,
    headers: {},
    requestId: task.request_id,
    createdAtSeconds: Math.floor(task.created_at.getTime() / 1000),
    model: task.model,
    stream: false,
    estimateInputTokens: () => metering.inputTokens(value, body.length),
  }
}

/** Returns the upstream of the current attempt. Rejects with UpstreamFailure if unusable. */
export async function findCallTarget(
  engine: Engine,
  task: ClaimedTask,
  { operation }: Metering,
): Promise<CallTarget> {
  const { upstream, settings } = await openChannel(engine, task)
  const { upstreams, catalog, limits } = engine.services
  const adapter = upstreams.get(upstream)?.calls[operation]
  if (!adapter) throw new UpstreamFailure('channel_fault', { message: `no ${operation} there` })
  const modelTimeoutMs = catalog.snapshot().models.get(task.model)?.limits.first_byte_timeout_ms
  const timeoutMs = modelTimeoutMs ?? Math.max(limits.firstByteTimeoutMs, TIMEOUT_MS_MIN)
  return { adapter, settings, timeoutMs }
}

/** Moves a refused task to its next attempt. Undefined when the catalog has no route for it. */
export async function moveToNextRoute(
  engine: Engine,
  task: ClaimedTask,
  { metering }: DeferredCall,
): Promise<ClaimedTask | undefined> {
  const isCapable = ({ calls }: Upstream) => calls[metering.operation] !== undefined
  const route = await nextRoute(engine, task, isCapable)
  if (!route) return undefined
  const next = {
    id: newId('att'),
    taskId: task.id,
    number: task.attempt_number + 1,
    channelId: route.channel,
    channelVersion: route.target.version,
    upstreamModel: route.upstreamModel,
    upstreamCostVersion: route.cost?.version ?? null,
  }
  await withTransaction(engine.sql, (transaction) => moveToAttempt(transaction, task, next, task))
  const current = await readClaimedTask(engine.sql, task)
  if (current?.attempt_id !== next.id) throw new Error('the lease of a task was lost')
  return current
}

/** Returns the first route of the current catalog that was not tried; else the first route. */
async function nextRoute(
  { services, sql }: Engine,
  task: ClaimedTask,
  isCapable: (upstream: Upstream) => boolean,
): Promise<UsableRoute | undefined> {
  const snapshot = services.catalog.snapshot()
  const model = snapshot.models.get(task.model)
  if (!model) return undefined
  const routes = orderRoutes(findRoutes(model, isCapable, snapshot, services), services)
  const attempts = await listAttempts(sql, task.id)
  const isTried = (route: UsableRoute) =>
    attempts.some(
      ({ channel_id, upstream_model }) =>
        channel_id === route.channel && upstream_model === route.upstreamModel,
    )
  return routes.find((route) => !isTried(route)) ?? routes[0]
}
