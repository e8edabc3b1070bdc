/** Reads the options of routers between vendors: their plugins, and other models. */
import { type JsonObject, member, printValue } from '../../../../base/lib/json.ts'
import type { PricedOptions } from './priced-options.ts'

export function readRouter(options: PricedOptions, value: JsonObject): void {
  readPlugins(options, value.plugins)
  readModels(options, value)
}

function readPlugins(options: PricedOptions, plugins: unknown): void {
  if (!Array.isArray(plugins)) return
  for (const [index, plugin] of plugins.entries()) {
    const id = member(plugin, 'id')
    if (member(plugin, 'enabled') === false) continue
    options.isHosted = true
    const priced = id === 'web' ? ({ unit: 'web_search_call', quantity: 1 } as const) : {}
    options.features.push({ field: `plugins[${index}].id`, value: printValue(id), ...priced })
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
