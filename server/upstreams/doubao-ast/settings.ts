/** What a channel at Doubao AST is configured with, and the headers that come of it. */
import { z } from 'zod'

export const settings = z
  .strictObject({
    base_url: z.url({ protocol: /^(wss?|https?)$/ }).default('wss://openspeech.bytedance.com'),
    /** The newer console's one key; or else the older pair below. */
    api_key: z.string().min(1).optional(),
    app_id: z.string().min(1).optional(),
    access_key: z.string().min(1).optional(),
    /** From one chunk of 80 ms to the next; less only where the vendor is a test's own. */
    pace_ms: z.int().min(0).max(80).default(80),
    stops_on_cancel: z.boolean().default(false),
  })
  .refine((value) => (value.api_key ? !value.app_id : value.app_id && value.access_key), {
    error: 'give api_key, or app_id with access_key',
  })
export type Settings = z.infer<typeof settings>

const PATH = '/api/v4/ast/v2/translate'

export function socketUrl({ base_url: base }: Settings): string {
  return `${base.replace(/^http/, 'ws').replace(/\/+$/, '')}${PATH}`
}

/** Either style of credentials alone: both together are refused (upstreams.md 0.2). */
export function socketHeaders(
  channel: Settings,
  resourceId: string,
  connectionId: string,
): Record<string, string> {
  const appId = channel.app_id ?? ''
  const credentials: Record<string, string> = channel.api_key
    ? { 'x-api-key': channel.api_key }
    : {
        'x-api-app-id': appId,
        'x-api-app-key': appId,
        'x-api-access-key': channel.access_key ?? '',
      }
  return {
    ...credentials,
    'x-api-resource-id': resourceId,
    'x-api-connect-id': connectionId,
  }
}
