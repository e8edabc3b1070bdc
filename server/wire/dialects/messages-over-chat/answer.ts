/** Values of a message answer besides its content: usage, stop reason and request data. */

import type { JsonObject } from '../../../base/lib/json.ts'
import { estimateTokensOfBytes } from '../../../base/lib/text/estimate-tokens.ts'
import type { ChatUsageOptions } from '../chat/read-usage.ts'
import { toMessagesTier } from '../usage/service-tier.ts'
import { totalTokens, type UsageReading } from '../usage/usage-reading.ts'
import type { MessageAnswerContext } from './request.ts'

export interface MessageAnswerOptions {
  /** The message's id, `msg_…`. */
  readonly id: string
  /** The model id the caller named. */
  readonly model: string
  /** Used until the upstream states the input tokens. */
  readonly inputTokensEstimate: number
  readonly context: MessageAnswerContext
  /** The options for reading usage, by what the upstream was sent. */
  readonly usage?: ChatUsageOptions
}

/**
 * Returns the usage of an answer in the format's own fields, with estimates if the upstream stated
 * no counts. The counts never overlap: tokens read from or written to a cache are not in
 * `input_tokens`.
 */
export function buildMessageUsage(
  { usage, facts }: UsageReading,
  inputTokensEstimate: number,
  outputBytes: number,
  thinkingTokens?: number,
): JsonObject {
  const { fresh, cached, written, output } = totalTokens(usage)
  const hour = usage?.cache_write_1h_token ?? 0
  const tier = facts?.service_tier
  const searches = usage?.web_search_call ?? 0
  return {
    input_tokens: fresh ?? inputTokensEstimate,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    ...(written > 0
      ? {
          cache_creation: {
            ephemeral_5m_input_tokens: written - hour,
            ephemeral_1h_input_tokens: hour,
          },
        }
      : {}),
    output_tokens: output ?? estimateTokensOfBytes(outputBytes),
    ...(thinkingTokens === undefined
      ? {}
      : { output_tokens_details: { thinking_tokens: thinkingTokens } }),
    ...(searches > 0 ? { server_tool_use: { web_search_requests: searches } } : {}),
    ...(typeof tier === 'string' ? { service_tier: toMessagesTier(tier) } : {}),
  }
}

export interface MessageEnding {
  /** The chat format's finish reason, if the upstream stated one. */
  readonly reason: string | undefined
  readonly stopSequence: string | undefined
  readonly hasTools: boolean
  readonly hasRefusal: boolean
}

export interface StopFields {
  readonly stop_reason: string
  readonly stop_sequence: string | null
}

const REASONS = new Map([
  ['length', 'max_tokens'],
  ['max_tokens', 'max_tokens'],
  ['content_filter', 'refusal'],
  ['tool_calls', 'tool_use'],
  ['function_call', 'tool_use'],
])

/** Sets `tool_use` for every answer that calls a tool, since clients rely on it. */
export function toStopFields({
  reason,
  stopSequence,
  hasTools,
  hasRefusal,
}: MessageEnding): StopFields {
  const known = hasRefusal ? 'refusal' : REASONS.get(reason ?? '')
  if (known) return { stop_reason: known, stop_sequence: null }
  if (hasTools) return { stop_reason: 'tool_use', stop_sequence: null }
  if (reason === 'stop' && stopSequence !== undefined) {
    return { stop_reason: 'stop_sequence', stop_sequence: stopSequence }
  }
  return { stop_reason: 'end_turn', stop_sequence: null }
}

/** Returns a tool call id for upstreams without ids, as unique as the message's id. */
export function mintToolId(messageId: string, position: number): string {
  return `toolu_${messageId.replace(/^msg_/, '')}_${position}`
}
