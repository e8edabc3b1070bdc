/** The operations of the public API in the reference. */
import type { Endpoint } from '../../../server/api/endpoints/endpoint.ts'
import { ENDPOINTS } from '../../../server/api/endpoints/index.ts'
import {
  describeEndpoint,
  type ReferenceOperation,
} from '../../../server/api/endpoints/reference/operation.ts'

export const PUBLIC_URL = 'https://gateway.example.com'
export const MODEL = 'a-model'

export function describeAll(endpoints: readonly Endpoint[] = ENDPOINTS): ReferenceOperation[] {
  return endpoints.map((endpoint) => describeEndpoint(endpoint, MODEL))
}
