/** A channel's settings at the services for recordings: one key, or the older pair. */
import { z } from 'zod'

export const recordingSettings = (vendorUrl: string) =>
  z
    .strictObject({
      base_url: z.url({ protocol: /^https?$/ }).default(vendorUrl),
      /** The newer console's one key; or else the older pair below. */
      api_key: z.string().min(1).optional(),
      app_id: z.string().min(1).optional(),
      access_key: z.string().min(1).optional(),
    })
    .refine((value) => (value.api_key ? !value.app_id : value.app_id && value.access_key), {
      error: 'give api_key, or app_id with access_key',
    })

export type RecordingSettings = z.infer<ReturnType<typeof recordingSettings>>

export const RECORDING_SECRETS = ['api_key', 'access_key']

/** The head of every request: credentials in one style, the product, the request's id. */
export function recordingHeaders(
  channel: RecordingSettings,
  resource: string,
  requestId: string,
): Record<string, string> {
  const credentials: Record<string, string> = channel.api_key
    ? { 'x-api-key': channel.api_key }
    : { 'x-api-app-key': channel.app_id ?? '', 'x-api-access-key': channel.access_key ?? '' }
  return {
    ...credentials,
    'x-api-resource-id': resource,
    'x-api-request-id': requestId,
    'x-api-sequence': '-1',
    'content-type': 'application/json',
  }
}

export function recordingUrl(channel: RecordingSettings, path: string): string {
  return channel.base_url.replace(/\/+$/, '') + path
}
