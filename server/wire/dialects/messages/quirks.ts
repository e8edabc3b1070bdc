/** Differences between messages upstreams, as data of the channel. */
import { z } from 'zod'

export const messagesQuirks = z.strictObject({
  /** The format requires `max_tokens`; this value is used if a chat caller names none. */
  max_tokens_default: z.int().positive().optional(),
  /** The model's own output limit; larger requests are lowered to it. */
  max_tokens_limit: z.int().positive().optional(),
  /**
   * Translation of a chat caller's `reasoning_effort`: nothing, thinking with a token budget, or
   * adaptive thinking with an effort (newer models).
   */
  reasoning: z.enum(['off', 'budget', 'adaptive']).default('off'),
  /** True if `output_config.format` is supported; otherwise a schema is described in the prompt. */
  structured_output: z.boolean().default(true),
})

export type MessagesQuirks = Readonly<z.output<typeof messagesQuirks>> & {
  readonly max_tokens_default: number
  /** True if the vendor may search the web: its searches have a price. */
  readonly webSearch?: boolean
}

export const DEFAULT_MESSAGES_QUIRKS: MessagesQuirks = {
  ...messagesQuirks.parse({}),
  max_tokens_default: 4_096,
}
