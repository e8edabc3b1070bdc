/** What a router between vendors is asked for: plugins of its own, and models that may stand in. */
import { type JsonObject, member } from '../../../lib/json.ts'
import type { RequestedFeature } from '../../../pipeline/price/dimensions.ts'
import type { Asking } from './priced-options.ts'

export function readRouter(asking: Asking, value: JsonObject): void {
  readPlugins(asking, value.plugins)
  readModels(asking, value)
}

const PLUGINS: ReadonlyMap<unknown, Pick<RequestedFeature, 'unit'>> = new Map([
  ['web', { unit: 'web_search_call' }],
  ['file-parser', { unit: 'page' }],
] as const)

function readPlugins(asking: Asking, plugins: unknown): void {
  if (!Array.isArray(plugins)) return
  for (const [index, plugin] of plugins.entries()) {
    const id = member(plugin, 'id')
    if (member(plugin, 'enabled') === false) continue
    asking.isHosted = true
    const known = PLUGINS.get(id)
    const quantity = known ? { quantity: 1 } : {}
    asking.features.push({
      field: `plugins[${index}].id`,
      value: String(id),
      ...known,
      ...quantity,
    })
  }
}

/** Other models that a router may serve the request with. */
function readModels(asking: Asking, { models }: JsonObject): void {
  if (!Array.isArray(models)) return
  for (const [index, model] of models.entries()) {
    const value = typeof model === 'string' ? model : String(JSON.stringify(model))
    asking.models.push(value)
    asking.features.push({ field: `models[${index}]`, value, facts: { model: value } })
  }
}
