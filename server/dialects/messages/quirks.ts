/** In what a messages upstream differs from the next one, as data of its channel. */
export interface MessagesQuirks {
  /** The format insists on `max_tokens`; this stands in when a chat caller names none. */
  readonly maxTokensDefault: number
  /** The model's own output limit; larger requests are lowered to it. */
  readonly maxTokensLimit?: number
  /**
   * What a chat caller's `reasoning_effort` becomes: nothing, thinking with a budget of tokens,
   * or adaptive thinking with an effort (newer models).
   */
  readonly reasoning: 'off' | 'budget' | 'adaptive'
  /** Whether `output_config.format` is known; else a schema is told in words. */
  readonly structuredOutput: boolean
}

export const DEFAULT_MESSAGES_QUIRKS: MessagesQuirks = {
  maxTokensDefault: 4_096,
  reasoning: 'off',
  structuredOutput: true,
}
