/** Converts URL parameters to a query: empty filters are dropped, the server validates the rest. */
import type { AdminKey, AdminRequest } from '../../../server/api/admin/contract.ts'

/** Members must have the names of the route's query; the server answers a bad value with 400. */
export function asQuery<Key extends AdminKey>(
  _key: Key,
  values: Partial<Readonly<Record<keyof NonNullable<AdminRequest<Key>['query']> & string, string>>>,
): AdminRequest<Key>['query'] {
  const entries = Object.entries(values).filter(([, value]) => value !== '' && value !== undefined)
  // URL parameters are text; zod on the server parses numbers, dates and states.
  return Object.fromEntries(entries) as AdminRequest<Key>['query']
}
