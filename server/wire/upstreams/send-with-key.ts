/** Sends requests to vendors that take JSON and a key. */
import { joinUrl } from '../../base/lib/text/base-url.ts'
import type { Wire, WireRequest, WireResponse } from './wire.ts'

/** The part of a channel's settings that is needed here. */
export interface KeyedChannel {
  readonly base_url: string
  readonly api_key: string
  /** The word before the key; `Bearer` by default. */
  readonly scheme?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends one request. `path` follows the channel's base URL; `body` is JSON. */
export function sendWithKey(
  wire: Wire,
  { base_url: baseUrl, api_key: apiKey, scheme = 'Bearer', headers }: KeyedChannel,
  method: WireRequest['method'],
  path: string,
  body?: Buffer,
): Promise<WireResponse> {
  return wire.send({
    method,
    url: joinUrl(baseUrl, path),
    headers: {
      ...headers,
      authorization: `${scheme} ${apiKey}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    body,
  })
}
