/** The order in which the routes of a model are tried while all work, for operators. Pure. */
import type { Nanos } from '../../../base/lib/money.ts'
import type { Route } from '../catalog.ts'
import { loadRoutes } from './load-model.ts'

export interface OrderedRoute {
  readonly channel: string
  readonly upstream_model: string
  /** The cost of a typical call; null if it is unknown, or does not matter. */
  readonly expected_cost: Nanos | null
  /** The reason why it comes before the next route, or why the last route comes last. */
  readonly because: 'only_route' | 'cost' | 'unknown_cost' | 'priority' | 'weight'
}

export function describeOrder(row: Parameters<typeof loadRoutes>[0]): OrderedRoute[] {
  const routes = loadRoutes(row).toSorted((a, b) => {
    const known = Number(a.expectedCost === null) - Number(b.expectedCost === null)
    const cost = (a.expectedCost ?? 0n) - (b.expectedCost ?? 0n)
    return (
      known ||
      (cost < 0n ? -1 : cost > 0n ? 1 : 0) ||
      a.priority - b.priority ||
      b.weight - a.weight
    )
  })
  return routes.map((route, index) => ({
    channel: route.channel,
    upstream_model: route.upstreamModel,
    expected_cost: route.expectedCost ?? null,
    because: reasonOf(route, routes[index + 1] ?? routes[index - 1]),
  }))
}

function reasonOf(route: Route, other: Route | undefined): OrderedRoute['because'] {
  if (route.expectedCost === null) return 'unknown_cost'
  if (!other) return 'only_route'
  if (route.expectedCost !== other.expectedCost) return 'cost'
  return route.priority === other.priority ? 'weight' : 'priority'
}
