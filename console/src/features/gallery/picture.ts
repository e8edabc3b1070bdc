/** A picture of the gallery, and the query of its list. */
import type { RowOf } from '../../lib/use-admin.ts'

export const GALLERY = 'GET /accounts/:account_id/gallery'

export type Picture = RowOf<typeof GALLERY>
