/**
 * In what a chat upstream differs from the next one, as data. A channel's settings say it; the
 * translators ask it and know no vendor. The defaults suit most vendors of OpenAI's protocol.
 */
export interface ChatQuirks {
  /** The name of the output limit. OpenAI's reasoning models refuse `max_tokens`. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens'
  /** The model's own output limit; larger requests are lowered to it. */
  readonly maxTokensLimit?: number
  /** Whether a `system` message may stand between others. If not it joins the next user's. */
  readonly systemInTheMiddle: boolean
  /** Chat templates that insist on user and assistant in turn, and on no user after a tool. */
  readonly strictRoleOrder: boolean
  /** What `content` is when an assistant message holds tool calls and no text. */
  readonly contentBesideToolCalls: 'null' | 'empty'
  /** Where earlier reasoning is sent back to the model; without it, it is left out. */
  readonly reasoningField?: 'reasoning_content' | 'reasoning'
  /** The `reasoning_effort` values that the model knows, lowest first; none: never sent. */
  readonly reasoningEfforts: readonly string[]
  /** Whether `thinking: {type: enabled | disabled}` switches reasoning (ARK, DeepSeek, GLM). */
  readonly thinkingSwitch: boolean
  /** Whether the model sees images (`image_url` parts). */
  readonly imageParts: boolean
  /** Whether the model reads documents (`file` parts). */
  readonly fileParts: boolean
  /** Whether `stream_options` is known; without it a stream brings no usage. */
  readonly streamOptions: boolean
  /** Whether `parallel_tool_calls` is known. */
  readonly parallelToolCalls: boolean
  /** Whether `top_k` is known. */
  readonly topK: boolean
  /** How many `stop` strings are allowed at most. */
  readonly stopLimit: number
  /** How a JSON schema for the answer is asked for. */
  readonly responseFormat: 'json_schema' | 'json_object'
  /**
   * What a last message of the assistant becomes: sent as it is (the answer may repeat it, which
   * is then cut off), refused with a 400, or marked as a beginning to be continued.
   */
  readonly prefill: 'keep' | 'refuse' | 'prefix' | 'partial' | 'continue_final_message'
  /** Where a pseudonym of the caller's user id goes; without it, none is sent. */
  readonly userField?: 'user' | 'safety_identifier'
  /** How long that pseudonym may be. */
  readonly userLength: number
}

export const DEFAULT_CHAT_QUIRKS: ChatQuirks = {
  maxTokensField: 'max_tokens',
  systemInTheMiddle: true,
  strictRoleOrder: false,
  contentBesideToolCalls: 'null',
  reasoningEfforts: [],
  thinkingSwitch: false,
  imageParts: true,
  fileParts: false,
  streamOptions: true,
  parallelToolCalls: true,
  topK: false,
  stopLimit: 4,
  responseFormat: 'json_schema',
  prefill: 'keep',
  userLength: 64,
}
