/** One request to the vendor, of either protocol. */
import type { Wire, WireResponse } from '../upstream.ts'
import type { MinimaxSettings } from './settings.ts'

/** With a body it is a POST. */
export function send(
  wire: Wire,
  { base_url: baseUrl, api_key: apiKey }: MinimaxSettings,
  path: string,
  body?: Buffer,
): Promise<WireResponse> {
  return wire.send({
    method: body ? 'POST' : 'GET',
    url: baseUrl.replace(/\/+$/, '') + path,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body } : {}),
  })
}
