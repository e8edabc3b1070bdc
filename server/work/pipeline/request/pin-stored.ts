/**
 * Requests that name objects stored at a vendor. Several accounts share one account at the vendor,
 * so an account may only name objects that this gateway gave to it, unless an operator lets a
 * channel's callers name everything. The named object determines the channel, and counts as input
 * again.
 */

import { GatewayError } from '../../../base/lib/errors.ts'
import type { Caller } from '../../../money/accounts/accounts.ts'
import type { Channel } from '../../../money/catalog/catalog.ts'
import { cutJson } from '../../../wire/dialects/cut-json.ts'
import type { Operation } from '../../../wire/upstreams/upstream.ts'
import type {
  Body,
  Chain,
  NamedContent,
  NameReading,
  RequestMetering,
  StoredReference,
} from '../metering.ts'
import type { Services, StoredItem, Waiting } from '../services.ts'
import type { UsableRoute } from './find-routes.ts'
import { parseObject, type RequestJson } from './read-request.ts'

/** An operator resumes a channel, or raises its spending cap, by hand. */
export const PAUSED_RETRY_SECONDS = 60

interface Named extends NamedContent {
  /** The earlier answer that the request continues. */
  readonly answerId: string | undefined
  readonly operation: Operation | undefined
}

interface Pinned<Target> {
  readonly targets: readonly Target[]
  readonly chain?: Chain
  /** Positions of items of the input that are sent without their ids. */
  readonly detached?: readonly number[]
}

/** There is no waiting for an unavailable database here. */
const AT_ONCE: Waiting = { startedAt: 0, end: true }
const NOTHING: NamedContent = { references: [], identified: [] }
const NOT_READ: NameReading = { find: () => NOTHING }

/** No longer id is stored. A map compares each longer one with all others of its length. */
const ID_LENGTH_MAX = 1_024

function isShort(id: unknown): id is string {
  return typeof id === 'string' && id.length <= ID_LENGTH_MAX
}

/** Returns undefined for a request that names nothing, as most do. */
export function readNamed(metering: RequestMetering, value: Body): Named | undefined {
  const answerId = metering.buildsOn?.(value)
  const { operation, find } = metering.names ?? NOT_READ
  const { references, identified } = find(value)
  const isNone = answerId === undefined && references.length === 0 && identified.length === 0
  return isNone ? undefined : { answerId, operation, references, identified }
}

/**
 * Keeps the routes to the channel that stores what the request names. Rejects with 400 if this
 * account has nothing of that name.
 */
export async function pinTargets<Target extends { readonly routes: readonly UsableRoute[] }>(
  targets: readonly Target[],
  named: Named,
  { accountId }: Pick<Caller, 'accountId'>,
  services: Services,
  waiting: Waiting = AT_ONCE,
): Promise<Pinned<Target>> {
  const { answerId, operation } = named
  const areTranslated = targets.every(({ routes }) => {
    return routes.every((route) => isTranslated(route, operation, services))
  })
  const { references, identified } = areTranslated ? NOTHING : named
  const ids = [...references, ...identified].flatMap(({ id }) => (isShort(id) ? id : []))
  const { storedAnswers, whileAway } = services
  const [answer, items] = await whileAway(waiting, () =>
    Promise.all([
      answerId === undefined ? undefined : storedAnswers.find(accountId, answerId),
      ids.length === 0 ? NO_ITEMS : storedAnswers.findItems(accountId, ids),
    ]),
  )
  const itemOf = ({ id }: { readonly id?: unknown }) => {
    return isShort(id) ? items.get(id) : undefined
  }
  const unknown = references.find((one) => !itemOf(one))
  const channels = new Set(references.flatMap((one) => itemOf(one)?.channelId ?? []))
  if (answer) channels.add(answer.channelId)
  const isLost = answerId !== undefined && !answer
  const isUnknown = unknown !== undefined || isLost
  const pinned = keepRoutes(targets, (route) => {
    if (isUnknown && !isShared(route, services)) {
      return !isLost && isTranslated(route, operation, services)
    }
    return [...channels].every((channel) => channel === route.channel)
  })
  if (pinned.length === 0) throw refusal({ unknown, references, answerId, channels }, services)
  const empty = identified.filter(({ isEmpty }) => isEmpty)
  const read = [...references, ...empty].flatMap((one) => itemOf(one) ?? [])
  const isRead = references.length > 0 || answerId !== undefined || read.length > 0
  const detached = identified.filter((one) => !itemOf(one)).map(({ position }) => position)
  const areAllShared = pinned.every(({ routes }) => {
    return routes.every((route) => isShared(route, services))
  })
  return {
    targets: pinned,
    ...(isRead ? { chain: { tokens: isUnknown ? null : addTokens(answer, read) } } : {}),
    ...(detached.length > 0 && !areAllShared ? { detached } : {}),
  }
}

/**
 * Returns the request without the ids of input items that do not belong to this account, because
 * the vendor looks up every id, even that of an item with content.
 */
export function withoutIds(request: RequestJson, positions: readonly number[]): RequestJson {
  const paths = positions.map((position) => ['input', position, 'id'])
  return parseObject(cutJson(request.body, paths))
}

const NO_ITEMS: ReadonlyMap<string, StoredItem> = new Map()

function keepRoutes<Target extends { readonly routes: readonly UsableRoute[] }>(
  targets: readonly Target[],
  isKept: (route: UsableRoute) => boolean,
): readonly Target[] {
  return targets
    .map((target) => ({ ...target, routes: target.routes.filter(isKept) }))
    .filter(({ routes }) => routes.length > 0)
}

function isShared({ target }: UsableRoute, { upstreams }: Pick<Services, 'upstreams'>): boolean {
  return upstreams.get(target.upstream)?.sharesStored?.(target.settings) === true
}

function isTranslated(
  { target }: UsableRoute,
  operation: Operation | undefined,
  { upstreams }: Pick<Services, 'upstreams'>,
): boolean {
  if (operation === undefined) return false
  return upstreams.get(target.upstream)?.translates?.(operation, target.settings) === true
}

/**
 * Adds up the tokens of everything that is read again, each answer once. Null if not all are known.
 */
function addTokens(
  answer: { readonly tokens: number | null } | undefined,
  items: readonly StoredItem[],
): number | null {
  const byAnswer = new Map<string, number | null>()
  for (const { answerId, tokens } of items) byAnswer.set(answerId, tokens)
  let sum: number | null = answer ? answer.tokens : 0
  for (const tokens of byAnswer.values()) {
    sum = sum === null || tokens === null ? null : sum + tokens
  }
  return sum
}

interface Missing {
  readonly unknown: StoredReference | undefined
  readonly references: readonly StoredReference[]
  readonly answerId: string | undefined
  readonly channels: ReadonlySet<string>
}

/**
 * Returns the error if no route has the object that the request names: 400, or 503 while its
 * channel is paused.
 */
function refusal(
  { unknown, references, answerId, channels }: Missing,
  services: Services,
): GatewayError {
  const holders = [...channels].map((id) => services.catalog.snapshot().channels.get(id))
  const isPaused = holders.some((holder) => holder && isStopped(holder, services))
  if (isPaused && !unknown) {
    return new GatewayError('unavailable', { retryAfterSeconds: PAUSED_RETRY_SECONDS })
  }
  const missing = unknown ?? (answerId === undefined ? references[0] : undefined)
  if (missing) {
    const { field } = missing
    return new GatewayError('invalid_request', {
      message: `${field}: not stored for this account at this model: send the content itself`,
      param: field,
      code: 'stored_content_not_found',
    })
  }
  return new GatewayError('invalid_request', {
    message: 'previous_response_id: no such response of this account at this model',
    param: 'previous_response_id',
    code: 'previous_response_not_found',
  })
}

/** Returns true if an operator can let the channel take calls again. */
export function isStopped(channel: Channel, { spending }: Pick<Services, 'spending'>): boolean {
  return channel.isPaused === true || spending.reached(channel) !== undefined
}
