/** A channel's settings at Doubao AST, and the address and headers that follow from them. */
import { z } from 'zod'
import { joinUrl } from '../../../base/lib/text/base-url.ts'
import { baseUrl } from '../shared-settings.ts'
import {
  credentialHeaders,
  haveOneStyle,
  ONE_STYLE,
  speechCredentials,
} from '../speech-credentials.ts'

export const settings = z
  .strictObject({
    base_url: baseUrl(/^(wss?|https?)$/).default('wss://openspeech.bytedance.com'),
    ...speechCredentials,
    /** Milliseconds from one chunk of 80 ms to the next; less is for tests only. */
    pace_ms: z.int().min(0).max(80).default(80),
    stops_on_cancel: z.boolean().default(false),
  })
  .refine(haveOneStyle, ONE_STYLE)
export type AstSettings = z.infer<typeof settings>

const PATH = '/api/v4/ast/v2/translate'

export function socketUrl({ base_url: base }: AstSettings): string {
  return joinUrl(base.replace(/^http/, 'ws'), PATH)
}

export function socketHeaders(
  channel: AstSettings,
  resourceId: string,
  connectionId: string,
): Record<string, string> {
  return {
    ...credentialHeaders(channel),
    'x-api-resource-id': resourceId,
    'x-api-connect-id': connectionId,
  }
}
