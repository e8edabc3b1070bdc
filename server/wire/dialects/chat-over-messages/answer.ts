/** Values of a chat answer besides its content: usage, finish reason and request data. */
import type { JsonObject } from '../../../base/lib/json.ts'
import type { Quantities } from '../../../base/lib/units.ts'
import type { MessagesUsageOptions } from '../messages/read-usage.ts'
import { toChatTier } from '../usage/service-tier.ts'
import { totalTokens, type UsageReading } from '../usage/usage-reading.ts'

export interface ChatAnswerOptions {
  /** The completion's id, `chatcmpl-…`. */
  readonly id: string
  /** The model id the caller named. */
  readonly model: string
  /** Seconds since 1970. */
  readonly created: number
  /** True if a stream ends with the chunk that contains only usage. */
  readonly includeUsage: boolean
  /**
   * True if the caller used `functions`, and therefore expects one `function_call` instead of
   * `tool_calls`.
   */
  readonly legacyFunctions?: boolean
  /** Names of free-text tools, whose calls have the form `custom`. */
  readonly customTools?: ReadonlySet<unknown>
  /** Used if the upstream did not state the input tokens. */
  readonly inputTokensEstimate: number
  /** Options for reading usage, from the translated request. */
  readonly usage?: MessagesUsageOptions
}

/** Returns an id for a call without one, as unique as the completion's. */
export function mintCallId(completionId: string, position: number): string {
  return `call_${completionId.replace(/^chatcmpl-/, '')}_${position}`
}

/** The chat format counts cached and written tokens as parts of the prompt. */
export function toChatUsage(
  usage: Quantities | undefined,
  reasoning: number | undefined,
  estimate: Quantities,
): JsonObject {
  const totals = totalTokens(usage)
  const { cached, written } = totals
  const prompt = totals.input ?? (estimate.input_token ?? 0) + cached + written
  const output = totals.output ?? estimate.output_token ?? 0
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: {
      cached_tokens: cached,
      ...(written > 0 ? { cache_write_tokens: written } : {}),
    },
    ...(reasoning === undefined
      ? {}
      : { completion_tokens_details: { reasoning_tokens: reasoning } }),
  }
}

/** Returns the serving tier in the chat format's terms; empty if the vendor stated none. */
export function encodeTier({ facts }: UsageReading): JsonObject {
  const tier = facts?.service_tier
  return typeof tier === 'string' ? { service_tier: toChatTier(tier) } : {}
}
