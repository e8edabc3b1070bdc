/** A channel's settings at the services for recordings: one key, or the older pair. */
import { z } from 'zod'
import type { JsonObject } from '../../base/lib/json.ts'
import { joinUrl } from '../../base/lib/text/base-url.ts'
import { baseUrl } from './shared-settings.ts'
import { haveOneStyle, ONE_STYLE, speechCredentials } from './speech-credentials.ts'

export const recordingSettings = (vendorUrl: string) =>
  z
    .strictObject({
      base_url: baseUrl().default(vendorUrl),
      ...speechCredentials,
    })
    .refine(haveOneStyle, ONE_STYLE)

export type RecordingSettings = z.infer<ReturnType<typeof recordingSettings>>

/** Returns the headers of a request: credentials in one style, the product, the request's id. */
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
  return joinUrl(channel.base_url, path)
}

/** Seconds of the longest recording that the products take. */
export const RECORDING_SECONDS_MAX = 7200

/** Returns the measured length in seconds, rounded up, else the longest. */
export function readSeconds({ recording_seconds: measured }: JsonObject): number {
  return typeof measured === 'number' && measured > 0 ? Math.ceil(measured) : RECORDING_SECONDS_MAX
}
