/** Reads the members that let a vendor search without being a tool. */

import { isAbsent, type JsonObject, member } from '../../../../base/lib/json.ts'
import { searchesOf } from '../../../../wire/dialects/chat-over-messages/translate-search.ts'
import type { PricedOptions } from './priced-options.ts'

/** `isDropped`: translators of the dialect do not know these members. */
export function readSearchOptions(
  options: PricedOptions,
  value: JsonObject,
  isDropped?: { readonly isDropped: true },
): void {
  const { web_search_options: search, enable_search: enabled, search_parameters: live } = value
  const add = (name: string) => {
    options.isHosted = true
    options.features.push({
      field: name,
      value: 'web search',
      unit: 'web_search_call',
      quantity: 1,
      translatedQuantity: searchesOf(member(search, 'max_uses')),
      offer: { path: [name], name, kind: 'web_search', unit: 'web_search_call' },
      ...isDropped,
    })
  }
  if (isOn(search)) add('web_search_options')
  if (isOn(enabled)) add('enable_search')
  if (isOn(live) && member(live, 'mode') !== 'off') add('search_parameters')
}

/** Returns true for any value except false: vendors also accept 1 and "true". */
export function isOn(value: unknown): boolean {
  return !isAbsent(value) && value !== false
}
