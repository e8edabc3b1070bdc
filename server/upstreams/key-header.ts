/** The header in which a channel's key is sent. */

export const KEY_HEADERS = ['bearer', 'x-api-key', 'api-key'] as const

interface KeyedChannel {
  readonly api_key?: string | undefined
  readonly auth: (typeof KEY_HEADERS)[number]
}

/** Returns no header for a channel without a key. */
export function keyHeader({ api_key: key, auth }: KeyedChannel): Record<string, string> {
  if (key === undefined) return {}
  return auth === 'bearer' ? { authorization: `Bearer ${key}` } : { [auth]: key }
}
