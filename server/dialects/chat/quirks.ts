/**
 * Differences between chat upstreams as data. A channel's settings define them; the translators
 * read them without knowing the vendor. The defaults suit most vendors of OpenAI's protocol.
 */
import type { JsonObject } from '../../lib/json.ts'
import { InvalidRequest } from '../invalid-request.ts'

export interface ChatQuirks {
  /** The name of the output limit. OpenAI's reasoning models refuse `max_tokens`. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens'
  /** The model's own output limit; larger requests are lowered to it. */
  readonly maxTokensLimit?: number
  /**
   * True if a `system` message is allowed between others. Otherwise it is merged into the next user
   * message.
   */
  readonly systemInTheMiddle: boolean
  /** Chat templates that insist on user and assistant in turn, and on no user after a tool. */
  readonly strictRoleOrder: boolean
  /** The `content` of an assistant message with tool calls and no text. */
  readonly contentBesideToolCalls: 'null' | 'empty'
  /** The field that returns earlier reasoning to the model; without it, reasoning is dropped. */
  readonly reasoningField?: 'reasoning_content' | 'reasoning'
  /** True if a vendor refuses calls without reasoning beside them: a blank stands in. */
  readonly reasoningBesideCalls?: boolean
  /** True if a vendor refuses calls without its signature: its stand-in for one is sent. */
  readonly signsCalls?: boolean
  /**
   * True if the chat request is translated once more, to the messages format: results of tools keep
   * their media and their failure, and reasoning its signature.
   */
  readonly beforeMessages?: boolean
  /** The `reasoning_effort` values that the model knows, lowest first; none: never sent. */
  readonly reasoningEfforts: readonly string[]
  /**
   * True if `thinking: {type: enabled | disabled}` switches reasoning (ARK, DeepSeek, GLM);
   * `enable_thinking` if that flag does (Qwen, SiliconFlow).
   */
  readonly thinkingSwitch: boolean | 'enable_thinking'
  /** `auto`: the model cannot be forced to call a tool. */
  readonly toolChoice: 'full' | 'auto'
  /** True if the model accepts images (`image_url` parts). */
  readonly imageParts: boolean
  /**
   * True if the model accepts documents (`file` parts). Absent if that is unknown: then those of a
   * user's input items are sent, all others are replaced by a note.
   */
  readonly fileParts?: boolean
  /** True if `web_search_options` make the vendor search, with a price for each search. */
  readonly webSearch?: boolean
  /** True if `stream_options` is supported; without it streams have no usage. */
  readonly streamOptions: boolean
  /** True if `parallel_tool_calls` is supported. */
  readonly parallelToolCalls: boolean
  /** True if `top_k` is supported. */
  readonly topK: boolean
  /** Maximum number of `stop` strings. */
  readonly stopLimit: number
  /** The form in which a JSON schema for the answer is requested. */
  readonly responseFormat: 'json_schema' | 'json_object'
  /**
   * Handling of a final assistant message: sent as it is (a repetition in the answer is cut off),
   * refused with a 400, or marked as a prefix to be continued.
   */
  readonly prefill: 'keep' | 'refuse' | 'prefix' | 'partial' | 'continue_final_message'
  /** The field for a pseudonym of the caller's user id; without it, none is sent. */
  readonly userField?: 'user' | 'safety_identifier'
  /** Maximum length of that pseudonym. */
  readonly userLength: number
}

/** Returns the fields that switch reasoning; none where the vendor has no switch. */
export function switchThinking(isOn: boolean, { thinkingSwitch }: ChatQuirks): JsonObject {
  if (!thinkingSwitch) return {}
  if (thinkingSwitch === 'enable_thinking') return { enable_thinking: isOn }
  return { thinking: { type: isOn ? 'enabled' : 'disabled' } }
}

const THINKING_FIELDS = ['thinking', 'enable_thinking', 'reasoning_effort']

/** Returns true if translated parameters say how much to reason. */
export function switchesThinking(parameters: JsonObject): boolean {
  return THINKING_FIELDS.some((field) => field in parameters)
}

/** Throws for a forced call of a tool where the model cannot be forced. */
export function checkToolChoice(choice: unknown, { toolChoice }: ChatQuirks): void {
  const isFree = choice === undefined || choice === 'auto' || choice === 'none'
  if (isFree || toolChoice === 'full') return
  throw new InvalidRequest('tool_choice', 'this model supports only auto and none')
}

export const DEFAULT_CHAT_QUIRKS: ChatQuirks = {
  maxTokensField: 'max_tokens',
  systemInTheMiddle: true,
  strictRoleOrder: false,
  contentBesideToolCalls: 'null',
  reasoningEfforts: [],
  thinkingSwitch: false,
  toolChoice: 'full',
  imageParts: true,
  streamOptions: true,
  parallelToolCalls: true,
  topK: false,
  stopLimit: 4,
  responseFormat: 'json_schema',
  prefill: 'keep',
  userLength: 64,
}
