/** One request to a vendor that speaks JSON and knows a channel by a bearer's key. */
import type { Wire, WireRequest, WireResponse } from './upstream.ts'

/** Of a channel's settings. */
interface KeyedChannel {
  readonly base_url: string
  readonly api_key: string
}

/** `path` follows the channel's own address; `body` is JSON. */
export function sendWithKey(
  wire: Wire,
  { base_url: baseUrl, api_key: apiKey }: KeyedChannel,
  method: WireRequest['method'],
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
