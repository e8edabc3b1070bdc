/** Verb 2: reads and checks the request: body, schema, model and routes. */
import type { Caller } from '../../accounts/accounts.ts'
import type { CatalogSnapshot, Channel, Model, Route } from '../../catalog/catalog.ts'
import { readShape } from '../../http/check-shape.ts'
import type { Context } from '../../http/context.ts'
import { readIdempotencyKey } from '../../http/idempotency-key.ts'
import { GatewayError, invalidField } from '../../lib/errors.ts'
import type { CallRequest, Upstream } from '../../upstreams/upstream.ts'
import type { Body, Chain, RequestMetering, RequestParts } from '../metering.ts'
import type { Services } from '../services.ts'
import { type Affinity, readAffinity } from './affinity.ts'
import { type ReceivedRequest, readRequest, withInvalidRequests } from './read-request.ts'

export interface IdempotencyClaim {
  readonly key: string
  readonly route: string
  readonly fingerprint: Buffer
}

export interface UsableRoute extends Route {
  readonly target: Channel
}

/** An operator resumes a channel by hand. */
const PAUSED_RETRY_SECONDS = 60

const ELSEWHERE = 'not called on this path: GET /v1/models lists the endpoints of each'

export interface ResolvedCall {
  readonly request: CallRequest
  readonly model: Model
  readonly routes: readonly UsableRoute[]
  readonly idempotency: IdempotencyClaim | null
  /** The earlier answers that the request continues; absent if it continues none. */
  readonly chain?: Chain | undefined
  /** The conversation that the request names; absent if it names none or has one route. */
  readonly affinity?: Affinity | undefined
  /** Deletes the request's file. */
  readonly discard: () => Promise<void>
}

/**
 * Reads and checks a request. Only upstreams that `canServe` accepts may serve it. Throws 400, 403,
 * 404, 413 or 415 with the invalid field.
 */
export async function resolve(
  context: Context,
  metering: RequestMetering,
  caller: Caller,
  services: Services,
  canServe: (upstream: Upstream) => boolean,
): Promise<ResolvedCall> {
  const received = await readRequest(context, metering, caller, services)
  const { file } = received
  try {
    const call = await match(context, metering, caller, services, canServe, received)
    return { ...call, discard: async () => file?.close() }
  } catch (error) {
    await file?.close()
    throw error
  }
}

async function match(
  context: Context,
  metering: RequestMetering,
  caller: Caller,
  services: Services,
  canServe: (upstream: Upstream) => boolean,
  { body, value, fields, file, digest }: ReceivedRequest,
): Promise<Omit<ResolvedCall, 'discard'>> {
  const { headers } = context.request
  const modelId = await readModelId(metering, { value, query: context.query, headers })
  context.facts.model = modelId
  const { model, routes, chain } = await findModelTarget(
    modelId,
    metering,
    value,
    caller,
    services,
    canServe,
  )
  // Estimated on first use: most calls never need it.
  let inputTokens: number | undefined
  return {
    model,
    routes,
    chain,
    affinity: routes.length > 1 ? readAffinity(caller.keyId, value, headers) : undefined,
    idempotency: readIdempotency(context, digest),
    request: {
      body,
      fields,
      value,
      file,
      headers,
      requestId: context.requestId,
      createdAtSeconds: Math.floor(Date.now() / 1000),
      model: modelId,
      stream: metering.streams(value),
      estimateInputTokens() {
        inputTokens ??= metering.inputTokens(value, body.length)
        return inputTokens
      },
    },
  }
}

/** Checks the request's shape and returns the model that it names. Throws 400. */
export async function readModelId(metering: RequestMetering, parts: RequestParts): Promise<string> {
  checkBody(metering, parts.value)
  await withInvalidRequests(() => metering.check?.(parts))
  const modelId = metering.model(parts)
  if (modelId === undefined || modelId === '') throw new GatewayError('model_required')
  return modelId
}

/** The caller attributes that decide which models are visible. */
export type Customer = Pick<Caller, 'accountId' | 'currency' | 'models'>

/** Returns the model and its usable routes. Throws 400, 403, 404 or 502. */
export async function findModelTarget(
  modelId: string,
  metering: RequestMetering,
  value: Body,
  caller: Customer,
  services: Services,
  canServe: (upstream: Upstream) => boolean,
): Promise<Pick<ResolvedCall, 'model' | 'routes' | 'chain'>> {
  const snapshot = services.catalog.snapshot()
  const model = findModel(modelId, metering, caller, snapshot)
  const usable = usableRoutes(model, canServe, snapshot, services).map((route) => {
    return dropForeignCost(route, caller.currency)
  })
  const answerId = metering.buildsOn?.(value)
  if (answerId === undefined) return { model, routes: usable }
  return { model, ...(await pinRoutes(usable, answerId, caller, services)) }
}

function checkBody({ schema }: RequestMetering, body: Body): void {
  const checked = readShape(schema, body)
  if ('value' in checked) return
  const { param, problem } = checked
  if (param === 'model') throw new GatewayError('model_required', { param })
  throw invalidField(param || 'body', problem)
}

function findModel(
  id: string,
  metering: RequestMetering,
  caller: Customer,
  snapshot: CatalogSnapshot,
): Model {
  const model = snapshot.models.get(id)
  if (!model) {
    throw new GatewayError('not_found', {
      message: `the model '${printable(id)}' does not exist here: GET /v1/models lists all`,
      param: 'model',
      code: 'model_not_found',
    })
  }
  if (caller.models !== null && !caller.models.includes(id)) {
    throw new GatewayError('forbidden', {
      message: `this key may not call the model '${id}'`,
      param: 'model',
    })
  }
  if (!model.free && model.currency !== caller.currency) {
    throw new GatewayError('forbidden', {
      message: `'${id}' is sold in ${model.currency}, this account pays in ${caller.currency}`,
      param: 'model',
    })
  }
  if (!metering.modelTypes.includes(model.type)) {
    throw new GatewayError('invalid_request', {
      message: `model: '${id}' is a ${model.type} model, ${ELSEWHERE}`,
      param: 'model',
    })
  }
  return model
}

function printable(text: string): string {
  return text.slice(0, 100).replace(/[^\x20-\x7e\p{L}\p{N}]/gu, '?')
}

/** Returns the routes whose channel is configured and can serve. Throws 400 or 502 if none is. */
function usableRoutes(
  model: Model,
  canServe: (upstream: Upstream) => boolean,
  snapshot: CatalogSnapshot,
  services: Services,
): UsableRoute[] {
  const usable = findRoutes(model, canServe, snapshot, services)
  if (usable.length > 0) return usable
  const channels = model.routes.flatMap(({ channel }) => snapshot.channels.get(channel) ?? [])
  const canResume = channels.some(({ isPaused, upstream: name }) => {
    const upstream = services.upstreams.get(name)
    return isPaused && upstream && canServe(upstream)
  })
  if (canResume) {
    services.log.warn({ model: model.id }, 'every channel that serves this model here is paused')
    throw new GatewayError('unavailable', { retryAfterSeconds: PAUSED_RETRY_SECONDS })
  }
  if (channels.length > 0) {
    throw new GatewayError('invalid_request', {
      message: `model: '${model.id}' is ${ELSEWHERE}`,
      param: 'model',
    })
  }
  services.log.error({ model: model.id }, 'no channel of this model is configured')
  throw new GatewayError('upstream_failed')
}

/** Drops costs in another currency than the caller's, which free models may have. */
function dropForeignCost(route: UsableRoute, currency: string): UsableRoute {
  if (!route.cost || route.cost.currency === currency) return route
  const { cost: _foreign, ...rest } = route
  return rest
}

/** Returns the routes whose channel is configured and can serve; there may be none. */
export function findRoutes(
  model: Model,
  canServe: (upstream: Upstream) => boolean,
  snapshot: CatalogSnapshot,
  { upstreams }: Pick<Services, 'upstreams'>,
): UsableRoute[] {
  const usable: UsableRoute[] = []
  for (const route of targetsOf(model, snapshot)) {
    const upstream = upstreams.get(route.target.upstream)
    if (upstream && canServe(upstream)) usable.push(route)
  }
  return usable
}

/** The routes of each model with their channels, joined once per immutable snapshot. */
const targets = new WeakMap<CatalogSnapshot, WeakMap<Model, readonly UsableRoute[]>>()

function targetsOf(model: Model, snapshot: CatalogSnapshot): readonly UsableRoute[] {
  let known = targets.get(snapshot)
  if (!known) {
    known = new WeakMap()
    targets.set(snapshot, known)
  }
  let routes = known.get(model)
  if (!routes) {
    routes = model.routes.flatMap((route) => {
      const target = snapshot.channels.get(route.channel)
      return target && !target.isPaused ? [{ ...route, target }] : []
    })
    known.set(model, routes)
  }
  return routes
}

/**
 * Keeps the routes to the channel that stores the earlier answer. Throws 400 if this account has no
 * such answer.
 */
async function pinRoutes(
  routes: readonly UsableRoute[],
  answerId: string,
  caller: Customer,
  services: Services,
): Promise<Pick<ResolvedCall, 'routes' | 'chain'>> {
  const found = await services.storedAnswers.find(caller.accountId, answerId)
  const pinned = routes.filter((route) => route.channel === found?.channelId)
  if (found && pinned.length > 0) return { routes: pinned, chain: { tokens: found.tokens } }
  throw new GatewayError('invalid_request', {
    message: 'previous_response_id: no such response of this account at this model',
    param: 'previous_response_id',
    code: 'previous_response_not_found',
  })
}

function readIdempotency(context: Context, digest: () => Buffer): IdempotencyClaim | null {
  const key = readIdempotencyKey(context.request.headers)
  if (key === undefined) return null
  return { key, route: context.route, fingerprint: digest() }
}
