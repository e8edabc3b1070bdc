/** The header in which a channel's key is sent. */

import { z } from 'zod'

export const KEY_HEADERS = ['bearer', 'x-api-key', 'api-key'] as const

const apiKey = z.string().min(1)

/** The keys of a channel in its settings. */
export const keySettings = {
  /** Absent for servers without authentication. */
  api_key: apiKey.optional(),
  /** Further keys, each with its own cooldown: a list, or a text with commas. */
  api_keys: z
    .union([z.array(apiKey), z.string().transform((text) => text.split(',').map(trim))])
    .pipe(z.array(apiKey).min(1).max(100))
    .optional(),
}

function trim(text: string): string {
  return text.trim()
}

/** Returns the settings with each of the channel's keys in turn. */
export function eachKey<Settings extends KeyedSettings>(settings: Settings): readonly Settings[] {
  const { api_key: first, api_keys: more = [] } = settings
  const keys = new Set([...(first === undefined ? [] : [first]), ...more])
  return [...keys].map((key) => ({ ...settings, api_key: key, api_keys: undefined }))
}

interface KeyedSettings {
  readonly api_key?: string | undefined
  readonly api_keys?: readonly string[] | undefined
}

interface KeyedChannel {
  readonly api_key?: string | undefined
  readonly auth: (typeof KEY_HEADERS)[number]
}

/** Returns no header for a channel without a key. */
export function keyHeader({ api_key: key, auth }: KeyedChannel): Record<string, string> {
  if (key === undefined) return {}
  return auth === 'bearer' ? { authorization: `Bearer ${key}` } : { [auth]: key }
}
