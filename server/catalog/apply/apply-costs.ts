/**
 * Applies upstream costs of catalog files: a new version is saved only if a route's costs changed.
 */
import { isDeepStrictEqual } from 'node:util'
import type { TransactionSql } from 'postgres'
import { type ModelRow, type StoredRoute, saveCost } from '../store.ts'

/** Returns the routes to store, each with the version of its costs. */
export async function versionCosts(
  sql: TransactionSql,
  modelId: string,
  desired: readonly StoredRoute[],
  stored: readonly StoredRoute[],
): Promise<StoredRoute[]> {
  const routes: StoredRoute[] = []
  for (const route of desired) {
    if (!route.costs) {
      routes.push(route)
      continue
    }
    const known = stored.find((one) => isSameTarget(one, route) && hasSameCosts(one, route))
    const version = known?.upstream_cost_version ?? (await saveCost(sql, modelId, route))
    routes.push({ ...route, upstream_cost_version: version })
  }
  return routes
}

type Routing = Pick<ModelRow, 'routes' | 'fallbacks'>

/** Compares routes regardless of their costs. */
export function isSameRouting(a: Routing, b: Routing): boolean {
  const routingOf = ({ routes, fallbacks }: Routing) => [routes.map(withoutCosts), fallbacks]
  return isDeepStrictEqual(routingOf(a), routingOf(b))
}

/** Compares the costs of routes, by channel and upstream model. */
export function hasSameRouteCosts(a: readonly StoredRoute[], b: readonly StoredRoute[]): boolean {
  const costsOf = (routes: readonly StoredRoute[]) =>
    routes.map(({ channel, upstream_model, costs, currency }) => {
      return { channel, upstream_model, costs, currency }
    })
  return isDeepStrictEqual(costsOf(a), costsOf(b))
}

function withoutCosts({ channel, upstream_model, priority, weight }: StoredRoute) {
  return { channel, upstream_model, priority, weight }
}

function isSameTarget(a: StoredRoute, b: StoredRoute): boolean {
  return a.channel === b.channel && a.upstream_model === b.upstream_model
}

function hasSameCosts(a: StoredRoute, b: StoredRoute): boolean {
  return a.currency === b.currency && isDeepStrictEqual(a.costs, b.costs)
}
