// The two search products, below `/search`.
import type { Vendor } from '../kernel/exchange.ts'
import { searchFailure } from './errors.ts'
import { globalSearchRoute } from './global-search.ts'
import { webSearchRoute } from './web-search.ts'

export interface SearchOptions {
  keys: string[]
}

export const SEARCH_DEFAULTS: SearchOptions = { keys: ['sim-search-key'] }

export function search(options: SearchOptions): Vendor {
  const accepted = new Set(options.keys.map((key) => `Bearer ${key}`))
  return {
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
    authenticate: (exchange) =>
      accepted.has(String(exchange.request.headers.authorization))
        ? undefined
        : searchFailure(exchange, { status: 401 }),
    failure: searchFailure,
    malformed: (exchange, message) => searchFailure(exchange, { status: 400, message }),
    notFound: (exchange) => searchFailure(exchange, { status: 404, message: 'no such path' }),
  }
}
