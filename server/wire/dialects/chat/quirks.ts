/**
 * Differences between chat upstreams as data. A channel's settings define them, and the translators
 * read them by the same names without knowing the vendor. The defaults suit most vendors of
 * OpenAI's protocol.
 */
import { z } from 'zod'
import type { JsonObject } from '../../../base/lib/json.ts'
import { InvalidRequest } from '../invalid-request.ts'

/** The quirks of a channel's settings; a search for a name finds its readers. */
export const chatQuirks = z.strictObject({
  /**
   * The name of the output limit: OpenAI's reasoning models refuse `max_tokens`, others the newer
   * one. Absent: `max_tokens` in translated requests, and in others the name that they have.
   */
  max_tokens_field: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
  /** The model's own output limit; larger requests are lowered to it. */
  max_tokens_limit: z.int().positive().optional(),
  /**
   * True if a `system` message is allowed between others. Otherwise it is merged into the next user
   * message.
   */
  system_in_the_middle: z.boolean().default(true),
  /** Chat templates that insist on user and assistant in turn, and on no user after a tool. */
  strict_role_order: z.boolean().default(false),
  /** The `content` of an assistant message with tool calls and no text. */
  content_beside_tool_calls: z.enum(['null', 'empty']).default('null'),
  /** The field that returns earlier reasoning to the model; without it, reasoning is dropped. */
  reasoning_field: z.enum(['reasoning_content', 'reasoning']).optional(),
  /** The `reasoning_effort` values that the model knows, lowest first; none: never sent. */
  reasoning_efforts: z.array(z.string()).readonly().default([]),
  /**
   * True if `thinking: {type: enabled | disabled}` switches reasoning (ARK, DeepSeek, GLM);
   * `enable_thinking` if that flag does (Qwen, SiliconFlow).
   */
  thinking_switch: z.union([z.boolean(), z.literal('enable_thinking')]).default(false),
  /** `auto`: the model cannot be forced to call a tool. */
  tool_choice: z.enum(['full', 'auto']).default('full'),
  /** True if the model accepts images (`image_url` parts). */
  image_parts: z.boolean().default(true),
  /**
   * True if the model accepts documents (`file` parts). Absent if that is unknown: then those of a
   * user's input items are sent, all others are replaced by a note.
   */
  file_parts: z.boolean().optional(),
  /** True if `stream_options` is supported; without it streams have no usage. */
  stream_options: z.boolean().default(true),
  /** True if `parallel_tool_calls` is supported. */
  parallel_tool_calls: z.boolean().default(true),
  /** True if `top_k` is supported. */
  top_k: z.boolean().default(false),
  /** Maximum number of `stop` strings. */
  stop_limit: z.int().nonnegative().default(4),
  /** The form in which a JSON schema for the answer is requested. */
  response_format: z.enum(['json_schema', 'json_object']).default('json_schema'),
  /**
   * Handling of a final assistant message: sent as it is (a repetition in the answer is cut off),
   * refused with a 400, or marked as a prefix to be continued.
   */
  prefill: z
    .enum(['keep', 'refuse', 'prefix', 'partial', 'continue_final_message'])
    .default('keep'),
  /** The field for a pseudonym of the caller's user id; without it, none is sent. */
  user_field: z.enum(['user', 'safety_identifier']).optional(),
  /** Maximum length of that pseudonym. */
  user_length: z.int().positive().default(64),
})

/** Members that an adapter sets for one request; no setting of a channel names them. */
export interface ChatModes {
  /** True after a refusal of calls without reasoning beside them: a blank stands in. */
  readonly reasoningBesideCalls?: boolean
  /** True after a refusal of calls without the vendor's signature: its stand-in is sent. */
  readonly signsCalls?: boolean
  /**
   * True if the chat request is translated once more, to a format that can say more: results of
   * tools keep their media and their failure, and reasoning and calls their signatures.
   */
  readonly beforeMessages?: boolean
  /** True if `web_search_options` make the vendor search, with a price for each search. */
  readonly webSearch?: boolean
}

export type ChatQuirks = Readonly<z.output<typeof chatQuirks>> & ChatModes

export const DEFAULT_CHAT_QUIRKS: ChatQuirks = chatQuirks.parse({})

/** Returns the name of the output limit in a translated request. */
export function limitFieldOf({ max_tokens_field: field = 'max_tokens' }: ChatQuirks) {
  return field
}

/** Returns the fields that switch reasoning; none where the vendor has no switch. */
export function switchThinking(isOn: boolean, quirks: ChatQuirks): JsonObject {
  const { thinking_switch: thinkingSwitch } = quirks
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
export function checkToolChoice(choice: unknown, quirks: ChatQuirks): void {
  const isFree = choice === undefined || choice === 'auto' || choice === 'none'
  if (isFree || quirks.tool_choice === 'full') return
  throw new InvalidRequest('tool_choice', 'this model supports only auto and none')
}
