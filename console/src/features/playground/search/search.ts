/** Search: two products behind one form. */

import type { Capability } from '../frame/capability.ts'
import { dropEmpty, numberOf } from '../frame/order.ts'
import { SearchFields } from './fields.tsx'
import { readResults, type SearchResult } from './read-results.ts'
import { Results } from './results.tsx'
import { isWebSearch, SEARCH_TYPES, type SearchValues } from './values.ts'

export const search: Capability<SearchValues, SearchResult> = {
  initial: { query: '', count: 5, period: '', sites: '', isLong: false },
  samples: { query: ['the longest rivers of Asia', '亚洲最长的河流'] },
  toOrder: (model, { query, count, period, sites, isLong }) => {
    if (query.trim() === '') return undefined
    const type = SEARCH_TYPES[model.id]
    const web = {
      TimeRange: period,
      Filter: sites ? { Sites: sites } : '',
      NeedSummary: isLong || '',
    }
    return {
      path: '/v1/search',
      body: dropEmpty({
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
