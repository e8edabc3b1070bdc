/** A channel's settings at an upstream that speaks OpenAI's API. */
import { z } from 'zod'
import { type ChatQuirks, DEFAULT_CHAT_QUIRKS } from '../../dialects/chat/quirks.ts'
import { baseUrl } from '../base-url.ts'
import { KEY_HEADERS, keySettings } from '../key-header.ts'
import { priceSettings, storedSettings } from '../shared-settings.ts'

/** The quirks by their names in the settings, all optional; the dialect has the defaults. */
const chatQuirks = z.strictObject({
  max_tokens_field: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
  max_tokens_limit: z.int().positive().optional(),
  system_in_the_middle: z.boolean().optional(),
  strict_role_order: z.boolean().optional(),
  content_beside_tool_calls: z.enum(['null', 'empty']).optional(),
  reasoning_field: z.enum(['reasoning_content', 'reasoning']).optional(),
  reasoning_efforts: z.array(z.string()).optional(),
  thinking_switch: z.union([z.boolean(), z.literal('enable_thinking')]).optional(),
  tool_choice: z.enum(['full', 'auto']).optional(),
  image_parts: z.boolean().optional(),
  file_parts: z.boolean().optional(),
  stream_options: z.boolean().optional(),
  parallel_tool_calls: z.boolean().optional(),
  top_k: z.boolean().optional(),
  stop_limit: z.int().nonnegative().optional(),
  response_format: z.enum(['json_schema', 'json_object']).optional(),
  prefill: z.enum(['keep', 'refuse', 'prefix', 'partial', 'continue_final_message']).optional(),
  user_field: z.enum(['user', 'safety_identifier']).optional(),
  user_length: z.int().positive().optional(),
})

/** Returns a channel's quirks by their names in the dialect. */
export function readQuirks({ quirks }: OpenaiCompatibleSettings): ChatQuirks {
  const entries = Object.entries(quirks).filter(([, value]) => value !== undefined)
  const renamed = entries.map(([name, value]) => [toCamelCase(name), value])
  return { ...DEFAULT_CHAT_QUIRKS, ...Object.fromEntries(renamed) }
}

function toCamelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

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
  quirks: chatQuirks.default({}),
})

export type OpenaiCompatibleSettings = z.infer<typeof openaiCompatibleSettings>
