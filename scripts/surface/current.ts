/** The surface of this tree, and the file with that of the last release. */
import { join } from 'node:path'
import { createAdminEndpoints } from '../../server/api/admin/endpoints.ts'
import type { AdminServices } from '../../server/api/admin/services.ts'
import { ENDPOINTS } from '../../server/api/endpoints/index.ts'
import { buildOpenapi } from '../../server/api/endpoints/reference/openapi.ts'
import { describeEndpoint } from '../../server/api/endpoints/reference/operation.ts'
import { type ApiDocument, listSurface } from './list-surface.ts'

export const SURFACE_FILE = join(import.meta.dirname, '..', '..', 'docs', 'surface.txt')

/** Returns its lines in their order. */
export function readCurrentSurface(): Promise<string[]> {
  // Endpoints are described, and none is called.
  const endpoints = [...ENDPOINTS, ...createAdminEndpoints({} as AdminServices)]
  const operations = endpoints.map((endpoint) => describeEndpoint(endpoint))
  return listSurface(buildOpenapi({ operations, publicUrl: 'http://localhost' }) as ApiDocument)
}
