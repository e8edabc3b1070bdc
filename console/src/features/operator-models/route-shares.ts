/** Shares of a model's traffic by route: weights count among routes of the same priority. */

interface WeightedRoute {
  readonly priority: number | string
  readonly weight: number | string
}

/** Returns each route's share among those of its priority, from 0 to 1. */
export function shareRoutes(routes: readonly WeightedRoute[]): number[] {
  const weights = routes.map(({ weight }) => Math.max(0, Number(weight)) || 0)
  return routes.map(({ priority }, index) => {
    const total = routes.reduce(
      (sum, other, at) =>
        sum + (Number(other.priority) === Number(priority) ? (weights[at] ?? 0) : 0),
      0,
    )
    return total === 0 ? 0 : (weights[index] ?? 0) / total
  })
}
