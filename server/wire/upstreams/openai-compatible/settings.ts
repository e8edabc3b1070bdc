/** A channel's settings at an upstream that speaks OpenAI's API. */
import { z } from 'zod'
import { chatQuirks } from '../../dialects/chat/quirks.ts'
import { KEY_HEADERS, keySettings } from '../key-header.ts'
import { baseUrl, priceSettings, storedSettings } from '../shared-settings.ts'

export const openaiCompatibleSettings = z.strictObject({
  /** Including the version path, for example https://api.openai.com/v1. */
  base_url: baseUrl(),
  ...keySettings,
  /** The header of the key: `Authorization: Bearer`, or one of its own. */
  auth: z.enum(KEY_HEADERS).default('bearer'),
  organization: z.string().optional(),
  project: z.string().optional(),
  /** Further headers for every request; they may hold keys, so they are kept as secrets. */
  headers: z.record(z.string(), z.string()).default({}),
  /** Further query parameters for every request; kept as secrets too. */
  query: z.record(z.string(), z.string()).default({}),
  /** True if the vendor bills nothing more once its connection is closed. */
  stops_on_cancel: z.boolean().default(false),
  ...priceSettings,
  ...storedSettings,
  /** The most calls at once in each gateway; more go to another route. */
  max_concurrent_calls: z.int().positive().optional(),
  /**
   * `pass`: the vendor has the Responses API; its refusal is passed on where it has not.
   * `translate`: chat completions serve it.
   */
  responses: z.enum(['pass', 'translate']).default('pass'),
  /**
   * The vendor's deviations from the usual form of the protocol; see
   * docs/guides/catalog.md#channel.
   */
  quirks: chatQuirks.prefault({}),
})

export type OpenaiCompatibleSettings = z.infer<typeof openaiCompatibleSettings>
