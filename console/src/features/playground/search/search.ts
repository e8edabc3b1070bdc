/** Search: two products with one question. */

import { given, numberOf } from '../frame/call/order.ts'
import type { Capability, PlaygroundModel } from '../frame/capability.ts'
import { SearchFields } from './fields.tsx'
import { readResults, type SearchResult } from './read-results.ts'
import { Results } from './results.tsx'

export interface SearchValues {
  readonly query: string
  readonly count: number | string
  readonly when: string
  readonly sites: string
  readonly isLong: boolean
}

const TYPES: Readonly<Record<string, string>> = {
  'vendor-web-search': 'web',
  'vendor-global-search': 'global',
}

/** The other product knows neither times nor sites. */
export function isWebSearch({ id }: PlaygroundModel): boolean {
  return TYPES[id] !== 'global'
}

export const search: Capability<SearchValues, SearchResult> = {
  initial: { query: 'the longest rivers of Asia', count: 5, when: '', sites: '', isLong: false },
  toOrder: (model, { query, count, when, sites, isLong }) => {
    if (query.trim() === '') return undefined
    const type = TYPES[model.id]
    const web = {
      TimeRange: when,
      Filter: sites ? { Sites: sites } : '',
      NeedSummary: isLong || '',
    }
    return {
      path: '/v1/search',
      body: given({
        ...(type ? { Type: type } : { model: model.id }),
        Query: query,
        Count: numberOf(count),
        ...(isWebSearch(model) ? web : {}),
      }),
    }
  },
  read: async (response) => readResults(await response.json()),
  Fields: SearchFields,
  Result: Results,
}
