/** Reads the options of routers between vendors: their plugins, and other models. */
import { type JsonObject, member } from '../../../lib/json.ts'
import type { RequestedFeature } from '../../../pipeline/price/dimensions.ts'
import type { PricedOptions } from './priced-options.ts'

export function readRouter(options: PricedOptions, value: JsonObject): void {
  readPlugins(options, value.plugins)
  readModels(options, value)
}

const PLUGINS: ReadonlyMap<unknown, Pick<RequestedFeature, 'unit'>> = new Map([
  ['web', { unit: 'web_search_call' }],
  ['file-parser', { unit: 'page' }],
] as const)

function readPlugins(options: PricedOptions, plugins: unknown): void {
  if (!Array.isArray(plugins)) return
  for (const [index, plugin] of plugins.entries()) {
    const id = member(plugin, 'id')
    if (member(plugin, 'enabled') === false) continue
    options.isHosted = true
    const known = PLUGINS.get(id)
    const quantity = known ? { quantity: 1 } : {}
    options.features.push({
      field: `plugins[${index}].id`,
      value: String(id),
      ...known,
      ...quantity,
    })
  }
}

/** Reads the other models by which a router may serve the request. */
function readModels(options: PricedOptions, { models }: JsonObject): void {
  if (!Array.isArray(models)) return
  for (const [index, model] of models.entries()) {
    const value = typeof model === 'string' ? model : String(JSON.stringify(model))
    options.models.push(value)
    options.features.push({ field: `models[${index}]`, value, facts: { model: value } })
  }
}
