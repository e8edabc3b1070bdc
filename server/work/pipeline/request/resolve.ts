/** Verb 2: reads and checks the request: body, schema, model and routes. */

import { readShape } from '../../../base/http/check-shape.ts'
import type { Context } from '../../../base/http/context.ts'
import { readIdempotencyKey } from '../../../base/http/idempotency-key.ts'
import { GatewayError, invalidField } from '../../../base/lib/errors.ts'
import type { Caller } from '../../../money/accounts/accounts.ts'
import { type CatalogSnapshot, isSoldIn, type Model } from '../../../money/catalog/catalog.ts'
import type { CallRequest, Upstream } from '../../../wire/upstreams/upstream.ts'
import type { Body, Chain, RequestMetering, RequestParts } from '../metering.ts'
import type { ToolOffer } from '../price/dimensions.ts'
import type { Services, Waiting } from '../services.ts'
import { type Affinity, readAffinity } from './affinity.ts'
import { askForUsage, wantsCost } from './ask-for-cost.ts'
import { viewOf } from './customer-view.ts'
import { type ListedModel, readModelList, withoutModelList } from './fallbacks.ts'
import { dropForeignCost, findRoutes, type UsableRoute } from './find-routes.ts'
import { isStopped, PAUSED_RETRY_SECONDS, pinTargets, readNamed, withoutIds } from './pin-stored.ts'
import { readLabels } from './read-labels.ts'
import { type ReceivedRequest, readRequest, withInvalidRequests } from './read-request.ts'
import { suggestModel } from './suggest-model.ts'

export interface IdempotencyClaim {
  readonly key: string
  readonly route: string
  readonly fingerprint: Buffer
}

const ELSEWHERE = 'not available on this path: GET /v1/models lists the paths of each model'

/** A model that may serve a call, with the routes that can. */
export interface ModelTarget {
  readonly model: Model
  readonly routes: readonly UsableRoute[]
}

export interface FallbackTarget extends ModelTarget {
  /** The field that names it; absent if the operator does. */
  readonly field?: string
}

export interface ResolvedCall {
  readonly request: CallRequest
  readonly model: Model
  readonly routes: readonly UsableRoute[]
  /** Models tried after all routes have failed, in this order; absent: none. */
  readonly fallbacks?: readonly FallbackTarget[]
  readonly idempotency: IdempotencyClaim | null
  /** The earlier answers that the request continues; absent if it continues none. */
  readonly chain?: Chain | undefined
  /** The answer's body states the charge, next to its usage. */
  readonly showsCost?: true
  /** Tools that were taken out of the request, since the model has no price for them. */
  readonly takenOut?: readonly ToolOffer[]
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

/** In the log and in spans, for a name that the catalog does not have. */
const UNKNOWN_MODEL = 'unknown'

async function match(
  context: Context,
  metering: RequestMetering,
  caller: Caller,
  services: Services,
  canServe: (upstream: Upstream) => boolean,
  received: ReceivedRequest,
): Promise<Omit<ResolvedCall, 'discard'>> {
  const { headers } = context.request
  const { file, digest } = received
  const view = viewOf(caller, services)
  const list = metering.takesModels && readModelList(received.value, view)
  const ofOneModel = list ? withoutModelList(received, list) : received
  const { labels, request: sentJson } = readLabels(ofOneModel, caller, headers)
  if (labels) context.labels = { ...context.labels, ...labels }
  const parts = { value: sentJson.value, query: context.query, headers }
  const named = readModelId(metering, parts, caller, services)
  const modelId = typeof named === 'string' ? named : await named
  // A caller's own text would reach the log and the spans.
  context.facts.model = view.models.has(modelId) ? modelId : UNKNOWN_MODEL
  const finding = findModelTarget(
    { id: modelId, others: list?.others },
    metering,
    sentJson.value,
    caller,
    services,
    canServe,
    context,
  )
  const { detached, ...found } = finding instanceof Promise ? await finding : finding
  const { model, routes, fallbacks = [] } = found
  const requested = detached ? withoutIds(sentJson, detached) : sentJson
  const showsCost = wantsCost(metering, caller, headers)
  const { body, value, fields } = showsCost ? askForUsage(requested, metering, headers) : requested
  const part = file && (await withInvalidRequests(() => choosePart(file, metering, model)))
  const isChoice = routes.length > 1 || fallbacks.length > 0
  // Estimated on first use: most calls never need it.
  let inputTokens: number | undefined
  return {
    affinity: isChoice ? readAffinity(caller.keyId, value, headers) : undefined,
    idempotency: readIdempotency(context, digest),
    request: {
      body,
      fields,
      value,
      file: part,
      headers,
      requestId: context.requestId,
      createdAtSeconds: Math.floor(Date.now() / 1000),
      model: model.id,
      stream: metering.streams(value),
      estimateInputTokens() {
        inputTokens ??= metering.inputTokens(value, body.length)
        return inputTokens
      },
    },
    ...found,
    ...(showsCost ? { showsCost } : {}),
  }
}

/** Returns the part of a file that the model takes. Throws InvalidRequest if there is none. */
export function choosePart<File extends { readonly other?: object | Error }>(
  file: File,
  { form }: RequestMetering,
  model: Model,
): File {
  if (!form?.takesOther?.(model)) return file
  const { other } = file
  if (other instanceof Error) throw other
  return { ...file, seconds: undefined, ...other }
}

/**
 * Checks the request's shape and returns the model that it names or implies: at once, unless the
 * metering has checks of its own. Throws or rejects with 400.
 */
export function readModelId(
  metering: RequestMetering,
  parts: RequestParts,
  caller: Customer,
  services: Pick<Services, 'catalog'>,
): string | Promise<string> {
  const { check } = metering
  checkBody(metering, parts.value)
  if (!check) return modelOf(metering, parts, caller, services)
  return withInvalidRequests(() => check(parts)).then(() => {
    return modelOf(metering, parts, caller, services)
  })
}

function modelOf(
  metering: RequestMetering,
  parts: RequestParts,
  caller: Customer,
  services: Pick<Services, 'catalog'>,
): string {
  const modelId = metering.model(parts) ?? findOnlyModel(metering, caller, viewOf(caller, services))
  if (modelId === undefined || modelId === '') throw new GatewayError('model_required')
  return modelId
}

/** Returns undefined if the caller may call several models, or if the endpoint wants one named. */
function findOnlyModel(
  { defaultsToOnlyModel, modelTypes }: RequestMetering,
  { models, currency }: Customer,
  snapshot: CatalogSnapshot,
): string | undefined {
  if (!defaultsToOnlyModel) return undefined
  const callable = [...snapshot.models.values()].filter((model) => {
    if (!modelTypes.includes(model.type) || models?.includes(model.id) === false) return false
    return isSoldIn(model, currency)
  })
  return callable.length === 1 ? callable[0]?.id : undefined
}

/** The caller attributes that decide which models are visible. */
export type Customer = Pick<Caller, 'accountId' | 'currency' | 'priceList' | 'models'>

export interface NamedModels {
  readonly id: string
  /** The other models that the caller lists; they replace those of the operator. */
  readonly others?: readonly ListedModel[] | undefined
}

type FoundTarget = Pick<ResolvedCall, 'model' | 'routes' | 'fallbacks' | 'chain'> & {
  /** Positions of items of the input that are sent without their ids. */
  readonly detached?: readonly number[] | undefined
}

/**
 * Returns the model, its usable routes and its fallbacks: at once, unless the request continues an
 * earlier answer. Throws or rejects with 400, 403, 404 or 502. A model without a usable route gives
 * way to its first fallback. The earlier answer is looked up while `waiting` waits.
 */
export function findModelTarget(
  models: NamedModels,
  metering: RequestMetering,
  value: Body,
  caller: Customer,
  services: Services,
  canServe: (upstream: Upstream) => boolean,
  waiting?: Waiting,
): FoundTarget | Promise<FoundTarget> {
  const snapshot = viewOf(caller, services)
  const model = findModel(models.id, metering, caller, snapshot)
  const routesOf = (one: Model) =>
    findRoutes(one, canServe, snapshot, services).map((route) => {
      return dropForeignCost(route, caller.currency)
    })
  const others = findFallbacks(model, models.others, metering, caller, snapshot)
  const targets: FallbackTarget[] = []
  for (const target of [{ model }, ...others]) {
    const routes = routesOf(target.model)
    if (routes.length > 0) targets.push({ ...target, routes })
  }
  const describe = (usable: readonly FallbackTarget[]): FoundTarget => {
    const [first, ...fallbacks] = usable
    if (!first) throw unroutable(model, canServe, snapshot, services)
    const { routes } = first
    return { model: first.model, routes, ...(fallbacks.length > 0 ? { fallbacks } : {}) }
  }
  const named = readNamed(metering, value)
  if (!named) return describe(targets)
  return pinTargets(targets, named, caller, services, waiting).then(
    ({ targets: pinned, ...rest }) => {
      return { ...describe(pinned), ...rest }
    },
  )
}

/** Returns the caller's other models, or those of the model's routes that the caller may call. */
function findFallbacks(
  model: Model,
  listed: readonly ListedModel[] | undefined,
  metering: RequestMetering,
  caller: Customer,
  snapshot: CatalogSnapshot,
): Omit<FallbackTarget, 'routes'>[] {
  if (listed) {
    return listed.map(({ id, field }) => {
      return { model: findModel(id, metering, caller, snapshot, field), field }
    })
  }
  return (model.fallbacks ?? []).flatMap(({ model: id }) => {
    const other = snapshot.models.get(id)
    if (!other || (caller.models !== null && !caller.models.includes(id))) return []
    if (!isSoldIn(other, caller.currency)) return []
    return metering.modelTypes.includes(other.type) ? [{ model: other }] : []
  })
}

/** Throws a 400 that names the first field that does not fit the schema. */
export function checkBody({ schema }: Pick<RequestMetering, 'schema'>, body: Body): void {
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
  param = 'model',
): Model {
  const model = snapshot.models.get(id)
  if (!model) {
    const meant = suggestModel(id, callable(metering, caller, snapshot))
    const hint = `${meant ? `did you mean '${meant}'? ` : ''}GET /v1/models lists all`
    const message = `the model '${printable(id)}' does not exist here: ${hint}`
    if (param !== 'model') throw invalidField(param, message)
    throw new GatewayError('not_found', { message, param, code: 'model_not_found' })
  }
  if (caller.models !== null && !caller.models.includes(id)) {
    const message = `this key may not call the model '${id}'`
    throw new GatewayError('forbidden', { message, param })
  }
  if (!isSoldIn(model, caller.currency)) {
    const message = `'${id}' is sold in ${model.currency}, this account pays in ${caller.currency}`
    throw new GatewayError('forbidden', { message, param })
  }
  if (!metering.modelTypes.includes(model.type)) {
    throw invalidField(param, `'${id}' is ${withArticle(model.type)} model, ${ELSEWHERE}`)
  }
  return model
}

/** Returns the ids of the models that the caller could have named instead. */
function* callable(metering: RequestMetering, caller: Customer, snapshot: CatalogSnapshot) {
  for (const model of snapshot.models.values()) {
    if (caller.models !== null && !caller.models.includes(model.id)) continue
    if (isSoldIn(model, caller.currency) && metering.modelTypes.includes(model.type)) yield model.id
  }
}

function withArticle(word: string): string {
  return /^[aeiou]/.test(word) ? `an ${word}` : `a ${word}`
}

function printable(text: string): string {
  return text.slice(0, 100).replace(/[^\x20-\x7e\p{L}\p{N}]/gu, '?')
}

/** Returns the error for a model without a route that can serve: 400, 502 or 503. */
function unroutable(
  model: Model,
  canServe: (upstream: Upstream) => boolean,
  snapshot: CatalogSnapshot,
  services: Services,
): GatewayError {
  const channels = model.routes.flatMap(({ channel }) => snapshot.channels.get(channel) ?? [])
  const canResume = channels.some((channel) => {
    const upstream = services.upstreams.get(channel.upstream)
    return isStopped(channel, services) && upstream && canServe(upstream)
  })
  if (canResume) {
    const reason = 'every channel that serves this model here is paused or has reached its cap'
    services.log.warn({ model: model.id }, reason)
    return new GatewayError('unavailable', { retryAfterSeconds: PAUSED_RETRY_SECONDS })
  }
  if (channels.length > 0) {
    return invalidField('model', `'${model.id}' is ${ELSEWHERE}`)
  }
  services.log.error({ model: model.id }, 'no channel of this model is configured')
  return new GatewayError('upstream_failed')
}

function readIdempotency(context: Context, digest: () => Buffer): IdempotencyClaim | null {
  const key = readIdempotencyKey(context.request.headers)
  if (key === undefined) return null
  return { key, route: context.route, fingerprint: digest() }
}
