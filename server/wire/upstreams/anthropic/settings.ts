/** A channel's settings at an upstream that speaks the messages format natively. */
import { z } from 'zod'
import {
  DEFAULT_MESSAGES_QUIRKS,
  type MessagesQuirks,
  messagesQuirks,
} from '../../dialects/messages/quirks.ts'
import { KEY_HEADERS, keySettings } from '../key-header.ts'
import { baseUrl, priceSettings, storedSettings } from '../shared-settings.ts'

/** The settings of every host. */
const messagesSettings = {
  stops_on_cancel: z.boolean().default(false),
  ...priceSettings,
  /** The most calls at once in each gateway; more go to another route. */
  max_concurrent_calls: z.int().positive().optional(),
  /** Values of `anthropic-beta` that callers may send beside the known ones. */
  betas: z.array(z.string().min(1).max(100)).default([]),
  quirks: messagesQuirks.prefault({}),
}

const { region: _region, ...settingsOfClouds } = messagesSettings

/** The settings of clouds, which have a region of their own. */
export const cloudSettings = {
  ...settingsOfClouds,
  /** The newer models refuse a schema of the answer, so that it is described in the prompt. */
  quirks: messagesQuirks.extend({ structured_output: z.boolean().default(false) }).prefault({}),
}

export interface MessagesSettings {
  readonly stops_on_cancel: boolean
  readonly betas: readonly string[]
  readonly quirks: z.output<typeof messagesQuirks>
}

export const anthropicSettings = z.strictObject({
  /** Without the version path. */
  base_url: baseUrl().default('https://api.anthropic.com'),
  ...keySettings,
  /** The header of the key; routers and open servers read `bearer`. */
  auth: z.enum(KEY_HEADERS).default('x-api-key'),
  /** The version sent to the vendor, whichever one the caller's SDK names. */
  anthropic_version: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}$/)
    .default('2023-06-01'),
  ...messagesSettings,
  ...storedSettings,
})

export type AnthropicSettings = z.infer<typeof anthropicSettings>

/** `outputTokensMax` is the model's own limit: a request without one may use all of it. */
export function readMessagesQuirks(
  { quirks }: MessagesSettings,
  outputTokensMax: number = DEFAULT_MESSAGES_QUIRKS.max_tokens_default,
  webSearch = false,
): MessagesQuirks {
  return { ...quirks, max_tokens_default: quirks.max_tokens_default ?? outputTokensMax, webSearch }
}
