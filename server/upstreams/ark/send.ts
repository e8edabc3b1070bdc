/** One request to the vendor, in the channel's name. */
import type { Wire, WireResponse } from '../upstream.ts'
import type { ArkSettings } from './settings.ts'

export function send(
  wire: Wire,
  { base_url: baseUrl, api_key: apiKey }: ArkSettings,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: Buffer,
): Promise<WireResponse> {
  return wire.send({
    method,
    url: baseUrl.replace(/\/+$/, '') + path,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body } : {}),
  })
}
