/** Differences between messages upstreams, as data of the channel. */
export interface MessagesQuirks {
  /** The format insists on `max_tokens`; this stands in when a chat caller names none. */
  readonly maxTokensDefault: number
  /** The model's own output limit; larger requests are lowered to it. */
  readonly maxTokensLimit?: number
  /**
   * Translation of a chat caller's `reasoning_effort`: nothing, thinking with a token budget, or
   * adaptive thinking with an effort (newer models).
   */
  readonly reasoning: 'off' | 'budget' | 'adaptive'
  /** True if `output_config.format` is supported; otherwise a schema is described in the prompt. */
  readonly structuredOutput: boolean
  /** True if the vendor may search the web: its searches have a price. */
  readonly webSearch?: boolean
}

export const DEFAULT_MESSAGES_QUIRKS: MessagesQuirks = {
  maxTokensDefault: 4_096,
  reasoning: 'off',
  structuredOutput: true,
}
