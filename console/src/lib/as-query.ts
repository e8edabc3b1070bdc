/** From the address to a request: empty filters are left out, and the server judges the rest. */
import type { AdminKey, AdminRequest } from '../../../server/admin/contract.ts'

/** The members must be named as the route's query names them; a bad value is answered 400. */
export function asQuery<Key extends AdminKey>(
  _key: Key,
  values: Partial<Readonly<Record<keyof NonNullable<AdminRequest<Key>['query']> & string, string>>>,
): AdminRequest<Key>['query'] {
  const given = Object.entries(values).filter(([, value]) => value !== '' && value !== undefined)
  // An address is only text; zod on the server reads numbers, dates and states from it.
  return Object.fromEntries(given) as AdminRequest<Key>['query']
}
