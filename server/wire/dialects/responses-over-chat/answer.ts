/** Values of a response besides its output: request data, usage and the reason for its end. */

import type { JsonObject } from '../../../base/lib/json.ts'
import { estimateTokensOfBytes } from '../../../base/lib/text/estimate-tokens.ts'
import type { Quantities } from '../../../base/lib/units.ts'
import type { ChatUsageOptions } from '../chat/read-usage.ts'
import { toChatTier } from '../usage/service-tier.ts'
import { totalTokens, type UsageReading } from '../usage/usage-reading.ts'
import type { ResponseAnswerContext } from './request.ts'

export interface ResponseAnswerOptions {
  /** The response's id, `resp_…`. */
  readonly id: string
  readonly createdAtSeconds: number
  /** The model id the caller named. */
  readonly model: string
  /** Used until the upstream states the input tokens. */
  readonly inputTokensEstimate: number
  readonly context: ResponseAnswerContext
  /** The options for reading usage, by what the upstream was sent. */
  readonly usage?: ChatUsageOptions
}

export type ResponseStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed'

/** The parts of a response that change between its first event and its last. */
export interface ResponseProgress {
  readonly status: ResponseStatus
  readonly output: readonly JsonObject[]
  readonly usage?: JsonObject
  /** The serving tier, by this dialect's name. */
  readonly tier?: string | undefined
  readonly error?: JsonObject
  /** The reason why the response is incomplete. */
  readonly reason?: string
}

export function buildResponse(options: ResponseAnswerOptions, state: ResponseProgress): JsonObject {
  const { status, output, usage = null, error = null, reason, tier } = state
  return {
    ...options.context.echo,
    id: options.id,
    object: 'response',
    created_at: options.createdAtSeconds,
    status,
    error,
    incomplete_details: reason === undefined ? null : { reason },
    model: options.model,
    output,
    usage,
    service_tier: tier,
  }
}

/** Returns undefined if the upstream did not state the serving tier. */
export function readTier({ facts }: UsageReading): string | undefined {
  const tier = facts?.service_tier
  return typeof tier === 'string' ? toChatTier(tier) : undefined
}

/** Ways to end, by the chat format's finish reason; any other is a completion. */
const INCOMPLETE: ReadonlyMap<string, string> = new Map([
  ['length', 'max_output_tokens'],
  ['max_tokens', 'max_output_tokens'],
  ['content_filter', 'content_filter'],
])

/** Returns undefined for a complete answer. */
export function readIncompleteReason(finishReason: string | undefined): string | undefined {
  return INCOMPLETE.get(finishReason ?? '')
}

/** The usage of an answer; estimates where the upstream stated no count. */
export function buildResponseUsage(
  usage: Quantities | undefined,
  reasoningTokens: number | undefined,
  inputTokensEstimate: number,
  outputBytes: number,
): JsonObject {
  const totals = totalTokens(usage)
  const { cached, written } = totals
  const input = totals.input ?? inputTokensEstimate + cached + written
  const output = totals.output ?? estimateTokensOfBytes(outputBytes)
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: cached,
      ...(written > 0 ? { cache_write_tokens: written } : {}),
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoningTokens ?? 0 },
    total_tokens: input + output,
  }
}
