/** Sends requests to vendors that take JSON and a bearer key. */
import { joinUrl } from '../../base/lib/text/base-url.ts'
import type { Wire, WireRequest, WireResponse } from './wire.ts'

/** The part of a channel's settings that is needed here. */
export interface KeyedChannel {
  readonly base_url: string
  readonly api_key: string
}

/** Sends one request. `path` follows the channel's base URL; `body` is JSON. */
export function sendWithKey(
  wire: Wire,
  { base_url: baseUrl, api_key: apiKey }: KeyedChannel,
  method: WireRequest['method'],
  path: string,
  body?: Buffer,
): Promise<WireResponse> {
  return wire.send({
    method,
    url: joinUrl(baseUrl, path),
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    body,
  })
}
