/** Builds the request body of either product from the gateway's search request. */

import { isObject } from '../../../base/lib/json.ts'
import { InvalidRequest } from '../../dialects/invalid-request.ts'
import { spliceJson } from '../../dialects/splice.ts'
import type { CallRequest } from '../upstream.ts'

const GLOBAL_COUNT_MAX = 20
const COUNT_DEFAULT = 10
/**
 * Fields that global search takes; it refuses those of web search
 * (docs/protocols/volcengine-search.md#global-search).
 */
const GLOBAL_FIELDS = ['Query', 'SearchType', 'MaxSnippetLength', 'MaxImageCountPerDoc'] as const

/** Fields that choose the route, or that are translated. */
const OTHER_FIELDS = ['Type', 'model', 'Count', 'Filter']

/** Refuses fields of web search, which would be dropped. */
function refuseUntaken(value: CallRequest['value']): void {
  const taken: readonly string[] = [...GLOBAL_FIELDS, ...OTHER_FIELDS]
  const { Filter: filters } = value
  if (filters !== undefined && !isObject(filters)) {
    throw new InvalidRequest('Filter', 'must be an object')
  }
  if (!['boolean', 'undefined'].includes(typeof filters?.IcpHostOnly)) {
    throw new InvalidRequest('Filter.IcpHostOnly', 'must be true or false')
  }
  const filter = Object.keys(filters ?? {})
  const nested = filter.filter((name) => name !== 'IcpHostOnly').map((name) => `Filter.${name}`)
  for (const name of [...Object.keys(value), ...nested]) {
    if (!taken.includes(name)) throw new InvalidRequest(name, 'global search does not take it')
  }
}

/** Builds the vendor's body without `Type` and `model`, which only choose the route. */
export function buildSearchBody(product: string, request: CallRequest): Buffer {
  if (product !== 'global_search') {
    return spliceJson(request.body, request.fields, { remove: ['Type', 'model'] })
  }
  const { value } = request
  refuseUntaken(value)
  const body: Record<string, unknown> = {}
  for (const name of GLOBAL_FIELDS) if (value[name] !== undefined) body[name] = value[name]
  const count = typeof value.Count === 'number' ? value.Count : COUNT_DEFAULT
  body.DocCount = Math.min(count, GLOBAL_COUNT_MAX)
  if (isObject(value.Filter) && typeof value.Filter.IcpHostOnly === 'boolean') {
    body.Filter = { IcpHostOnly: value.Filter.IcpHostOnly }
  }
  return Buffer.from(JSON.stringify(body))
}
