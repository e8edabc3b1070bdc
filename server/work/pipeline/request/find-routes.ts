/** The routes of a model that can serve a call. */
import type { CatalogSnapshot, Channel, Model, Route } from '../../../money/catalog/catalog.ts'
import type { Upstream } from '../../../wire/upstreams/upstream.ts'
import type { Services } from '../services.ts'

export interface UsableRoute extends Route {
  readonly target: Channel
}

/** Drops costs in another currency than the caller's, which free models may have. */
export function dropForeignCost(route: UsableRoute, currency: string): UsableRoute {
  if (!route.cost || route.cost.currency === currency) return route
  const { cost: _foreign, ...rest } = route
  return rest
}

/** Returns the routes whose channel is configured, below its cap, and can serve; maybe none. */
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
