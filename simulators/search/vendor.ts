// The two search products, below `/search`.
import { keyedVendor, type Vendor } from '../kernel/exchange.ts'
import { searchFailure } from './errors.ts'
import { globalSearchRoute } from './global-search.ts'
import { webSearchRoute } from './web-search.ts'

export interface SearchOptions {
  keys: string[]
}

export const SEARCH_DEFAULTS: SearchOptions = { keys: ['sim-search-key'] }

export function search(options: SearchOptions): Vendor {
  return keyedVendor({
    keys: options.keys,
    name: 'search',
    prefix: '/search',
    requestIdHeader: 'X-Tt-Logid',
    scenarios: [
      {
        name: 'error-in',
        takes: 'text',
        description: 'the place of a search error: metadata, metadata-200, result (global only)',
      },
    ],
    routes: [webSearchRoute, globalSearchRoute],
    failure: searchFailure,
  })
}
