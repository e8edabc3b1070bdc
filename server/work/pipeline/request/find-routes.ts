/** The routes of a model that can serve a call, and the order in which they are tried. */
import type { CatalogSnapshot, Channel, Model, Route } from '../../../money/catalog/catalog.ts'
import type { Upstream } from '../../../wire/upstreams/upstream.ts'
import type { Services } from '../services.ts'
import { type Affinity, drawFor } from './affinity.ts'

export interface UsableRoute extends Route {
  readonly target: Channel
}

/** Drops costs in another currency than the caller's, which free models may have. */
export function dropForeignCost(route: UsableRoute, currency: string): UsableRoute {
  if (!route.cost || route.cost.currency === currency) return route
  const { cost: _foreign, ...rest } = route
  return rest
}

/**
 * Returns the routes whose channel is configured, is below its cap and can serve; there may be
 * none.
 */
export function findRoutes(
  model: Model,
  canServe: (upstream: Upstream) => boolean,
  snapshot: CatalogSnapshot,
  { upstreams, spending }: Pick<Services, 'upstreams' | 'spending'>,
): UsableRoute[] {
  const usable: UsableRoute[] = []
  for (const route of targetsOf(model, snapshot)) {
    const upstream = upstreams.get(route.target.upstream)
    const isUsable = upstream && canServe(upstream) && !spending.reached(route.target)
    if (isUsable) usable.push(route)
  }
  return usable
}

/** The routes of each model to every key of their channels, joined once per immutable snapshot. */
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
      const { keyIds = [route.channel] } = snapshot.channels.get(route.channel) ?? {}
      const weight = route.weight / keyIds.length
      return keyIds.flatMap((channel) => {
        const target = snapshot.channels.get(channel)
        return target && !target.isPaused ? [{ ...route, channel, weight, target }] : []
      })
    })
    known.set(model, routes)
  }
  return routes
}

/**
 * Orders by cost if the model is configured so, then by priority, then by weight (randomly, or by
 * the hash of the conversation). Channels that are cooling down or near their spending cap come
 * last.
 */
export function orderRoutes(
  routes: readonly UsableRoute[],
  services: Services,
  affinity?: Affinity,
): readonly UsableRoute[] {
  if (routes.length === 1) return routes
  const keyed = routes.map((route) => ({
    route,
    ready: services.health.isReady(route.channel) && services.spending.hasRoom(route.target),
    // Exponential sampling: the smallest -ln(u)/w belongs to each route with probability w / Σw.
    draw:
      -Math.log(affinity ? drawFor(affinity, route.channel) : 1 - Math.random()) /
      Math.max(route.weight, 1e-9),
  }))
  keyed.sort(
    (a, b) =>
      Number(b.ready) - Number(a.ready) ||
      compareCosts(a.route, b.route) ||
      a.route.priority - b.route.priority ||
      a.draw - b.draw,
  )
  return keyed.map((one) => one.route)
}

/** An unknown cost is tried last. Routes of other models have none. */
function compareCosts({ expectedCost: a }: UsableRoute, { expectedCost: b }: UsableRoute): number {
  if (a === b || a === undefined || b === undefined) return 0
  if (a === null || b === null) return a === null ? 1 : -1
  return a < b ? -1 : 1
}
