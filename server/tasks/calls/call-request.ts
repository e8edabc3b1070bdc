/** What a deferred call needs to be made: the caller's request, and an upstream that takes it. */
import { withTransaction } from '../../database/transaction.ts'
import { parseRequestJson } from '../../dialects/json-scan.ts'
import { newId } from '../../lib/ids.ts'
import type { Metering } from '../../pipeline/metering.ts'
import { findRoutes, type UsableRoute } from '../../pipeline/request/resolve.ts'
import { orderRoutes } from '../../pipeline/send/dispatch.ts'
import { UpstreamFailure } from '../../upstreams/failure.ts'
import type { CallAdapter, CallRequest, Upstream } from '../../upstreams/upstream.ts'
import { type Engine, openChannel } from '../engine.ts'
import { moveToAttempt, readHeld } from '../store.ts'
import type { DeferredCall } from '../submission.ts'
import type { ClaimedTask } from '../task.ts'
import { listAttempts } from '../timeline-store.ts'

/** Nobody waits for the answer, and giving one up may cost as much as it was worth. */
const PATIENCE_MS = 300_000

export interface CallTarget {
  readonly adapter: CallAdapter<unknown>
  readonly settings: unknown
  readonly timeoutMs: number
}

/** The request as it was taken: its body had been read and checked then. */
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

/** The upstream of the current attempt. Throws an UpstreamFailure when it cannot be used. */
export async function findCallTarget(
  engine: Engine,
  task: ClaimedTask,
  { operation }: Metering,
): Promise<CallTarget> {
  const { upstream, settings } = await openChannel(engine, task)
  const { upstreams, catalog, limits } = engine.services
  const adapter = upstreams.get(upstream)?.calls[operation]
  if (!adapter) throw new UpstreamFailure('channel_fault', { message: `no ${operation} there` })
  const own = catalog.snapshot().models.get(task.model)?.limits.first_byte_timeout_ms
  const timeoutMs = own ?? Math.max(limits.firstByteTimeoutMs, PATIENCE_MS)
  return { adapter, settings, timeoutMs }
}

/** The next attempt after one that was refused; undefined when no route is left in the catalog. */
export async function moveOn(
  engine: Engine,
  task: ClaimedTask,
  { metering }: DeferredCall,
): Promise<ClaimedTask | undefined> {
  const speaks = ({ calls }: Upstream) => calls[metering.operation] !== undefined
  const route = await nextRoute(engine, task, speaks)
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
  await withTransaction(engine.sql, (transaction) =>
    moveToAttempt(transaction, task.fence, next, task),
  )
  const moved = await readHeld(engine.sql, task.id)
  if (moved?.attempt_id !== next.id) throw new Error('the lease of a task was lost')
  return moved
}

/** One that was not tried yet, by the catalog as it is now; else the first in turn. */
async function nextRoute(
  { services, sql }: Engine,
  task: ClaimedTask,
  speaks: (upstream: Upstream) => boolean,
): Promise<UsableRoute | undefined> {
  const snapshot = services.catalog.snapshot()
  const model = snapshot.models.get(task.model)
  if (!model) return undefined
  const routes = orderRoutes(findRoutes(model, speaks, snapshot, services), services)
  const tried = await listAttempts(sql, task.id)
  const isTried = (route: UsableRoute) =>
    tried.some(
      (one) => one.channel_id === route.channel && one.upstream_model === route.upstreamModel,
    )
  return routes.find((route) => !isTried(route)) ?? routes[0]
}
