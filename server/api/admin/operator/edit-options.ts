/** The means of a change of the catalog. */
import type { EditOptions } from '../../../money/catalog/apply/edit.ts'
import type { AdminServices } from '../services.ts'

export function editOptions({ sql, secrets, upstreams }: AdminServices): EditOptions {
  return { sql, secrets, upstreams: Object.fromEntries(upstreams), environment: process.env }
}
