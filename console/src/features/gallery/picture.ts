/** A picture of the gallery, and where its list comes from. */
import type { RowOf } from '../../lib/use-admin.ts'

export const GALLERY = 'GET /accounts/:account_id/gallery'

export type Picture = RowOf<typeof GALLERY>
