/** Checks routes that name another model. */
import type { ModelRow } from '../store.ts'

export interface LostFallback {
  readonly model: ModelRow
  readonly problem: string
}

/** Returns the fallbacks of active models that could never serve their calls. */
export function findLostFallbacks(active: readonly ModelRow[]): LostFallback[] {
  const models = new Map(active.map((model) => [model.id, model]))
  return active.flatMap((model) =>
    model.fallbacks.flatMap(({ model: id }) => {
      const problem = findProblem(model, id, models.get(id))
      return problem === undefined ? [] : [{ model, problem }]
    }),
  )
}

function findProblem(
  model: ModelRow,
  id: string,
  fallback: ModelRow | undefined,
): string | undefined {
  if (!fallback) return `there is no model "${id}"`
  if (fallback.type !== model.type) return `"${id}" is of the type ${fallback.type}`
  if (fallback.routes.length === 0) return `"${id}" has no route to a channel of its own`
  if (model.free || fallback.free || fallback.currency === model.currency) return undefined
  return `"${id}" is sold in ${fallback.currency}`
}
