/** Verb 2: what is asked for? Body, schema, model, routes: everything that can be a 4xx. */
import type { Caller } from '../../accounts/accounts.ts'
import type { CatalogSnapshot, Channel, Model, Route } from '../../catalog/catalog.ts'
import { readShape } from '../../http/check-shape.ts'
import type { Context } from '../../http/context.ts'
import { readIdempotencyKey } from '../../http/idempotency-key.ts'
import { GatewayError, invalidField } from '../../lib/errors.ts'
import type { CallRequest, Upstream } from '../../upstreams/upstream.ts'
import type { Body, Chain, RequestMetering, RequestParts } from '../metering.ts'
import type { Services } from '../services.ts'
import { type ReceivedRequest, readRequest, withInvalidRequests } from './read-request.ts'

export interface IdempotencyClaim {
  readonly key: string
  readonly route: string
  readonly fingerprint: Buffer
}

export interface UsableRoute extends Route {
  readonly target: Channel
}

const ELSEWHERE = 'not called on this path: GET /v1/models lists the endpoints of each'

export interface ResolvedCall {
  readonly request: CallRequest
  readonly model: Model
  readonly routes: readonly UsableRoute[]
  readonly idempotency: IdempotencyClaim | null
  /** The earlier answers that the request builds on; absent when it builds on none. */
  readonly chain?: Chain | undefined
  /** Gives back what the request has on disk. */
  readonly discard: () => Promise<void>
}

/**
 * Reads and checks a request. Only upstreams that `speaks` accepts can serve it. Throws 400, 403,
 * 404, 413 or 415, naming what is at fault.
 */
export async function resolve(
  context: Context,
  metering: RequestMetering,
  caller: Caller,
  services: Services,
  speaks: (upstream: Upstream) => boolean,
): Promise<ResolvedCall> {
  const received = await readRequest(context, metering, caller, services)
  const { file } = received
  try {
    const call = await match(context, metering, caller, services, speaks, received)
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
  speaks: (upstream: Upstream) => boolean,
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
    speaks,
  )
  // Counted on first use: most calls never need it.
  let inputTokens: number | undefined
  return {
    model,
    routes,
    chain,
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

/** The model that a request names, once its shape is right. Throws 400. */
export async function readModelId(metering: RequestMetering, parts: RequestParts): Promise<string> {
  checkBody(metering, parts.value)
  await withInvalidRequests(() => metering.check?.(parts))
  const modelId = metering.model(parts)
  if (modelId === undefined || modelId === '') throw new GatewayError('model_required')
  return modelId
}

/** Who asks, as far as it decides which models there are. */
export type Customer = Pick<Caller, 'accountId' | 'currency' | 'models'>

/** The model and where it can be called. Throws 400, 403, 404 or 502. */
export async function findModelTarget(
  modelId: string,
  metering: RequestMetering,
  value: Body,
  caller: Customer,
  services: Services,
  speaks: (upstream: Upstream) => boolean,
): Promise<Pick<ResolvedCall, 'model' | 'routes' | 'chain'>> {
  const snapshot = services.catalog.snapshot()
  const model = findModel(modelId, metering, caller, snapshot)
  const usable = usableRoutes(model, speaks, snapshot, services).map((route) => {
    return costIn(route, caller.currency)
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

/** Routes whose channel is configured and speaks the operation. */
function usableRoutes(
  model: Model,
  speaks: (upstream: Upstream) => boolean,
  snapshot: CatalogSnapshot,
  services: Services,
): UsableRoute[] {
  const usable = findRoutes(model, speaks, snapshot, services)
  if (usable.length > 0) return usable
  if (model.routes.some((route) => snapshot.channels.has(route.channel))) {
    throw new GatewayError('invalid_request', {
      message: `model: '${model.id}' is ${ELSEWHERE}`,
      param: 'model',
    })
  }
  services.log.error({ model: model.id }, 'no channel of this model is configured')
  throw new GatewayError('upstream_failed')
}

/** Costs in another currency than the caller's, as those of free models may be, tell nothing. */
function costIn(route: UsableRoute, currency: string): UsableRoute {
  if (!route.cost || route.cost.currency === currency) return route
  const { cost: _foreign, ...rest } = route
  return rest
}

/** The same without an opinion on there being none. */
export function findRoutes(
  model: Model,
  speaks: (upstream: Upstream) => boolean,
  snapshot: CatalogSnapshot,
  { upstreams }: Pick<Services, 'upstreams'>,
): UsableRoute[] {
  const usable: UsableRoute[] = []
  for (const route of targetsOf(model, snapshot)) {
    const upstream = upstreams.get(route.target.upstream)
    if (upstream && speaks(upstream)) usable.push(route)
  }
  return usable
}

/** Snapshots never change, so that the routes of a model are joined to their channels once. */
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
      return target ? [{ ...route, target }] : []
    })
    known.set(model, routes)
  }
  return routes
}

/** What builds on an earlier answer goes where that lies; another account's does not exist. */
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
