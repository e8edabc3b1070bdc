/** Responses that the vendor keeps: read again, listed, deleted. */
import type { StoredRequest, Wire, WireResponse } from '../upstream.ts'
import { identityHeaders } from './request.ts'
import type { OpenaiCompatibleSettings } from './settings.ts'

export function stored(
  wire: Wire,
  settings: OpenaiCompatibleSettings,
  { method, id, inputItems, query }: StoredRequest,
): Promise<WireResponse> {
  const base = settings.base_url.replace(/\/+$/, '')
  const path = `/responses/${encodeURIComponent(id)}${inputItems ? '/input_items' : ''}`
  return wire.send({
    method,
    url: `${base}${path}${query ? `?${query}` : ''}`,
    headers: { ...identityHeaders(settings), accept: 'application/json' },
  })
}
