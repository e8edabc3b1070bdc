/** What a chat answer says besides its content: usage, why it ended, who asked. */
import type { Quantities } from '../../lib/units.ts'

export interface ChatAnswerOptions {
  /** The completion's id, `chatcmpl-…`. */
  readonly id: string
  /** The model id the caller named. */
  readonly model: string
  /** Seconds since 1970. */
  readonly created: number
  /** Whether a stream ends with the chunk that holds nothing but usage. */
  readonly includeUsage: boolean
  /** Stands in for the input tokens that the upstream did not state. */
  readonly inputTokensEstimate: number
}

const REASONS = new Map([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
])

/** `end_turn`, `stop_sequence`, `pause_turn` and whatever comes new are a plain `stop`. */
export function toFinishReason(stopReason: unknown): string {
  return (typeof stopReason === 'string' ? REASONS.get(stopReason) : undefined) ?? 'stop'
}

/** The chat format counts cached tokens as a part of the prompt. */
export function toChatUsage(usage: Quantities | undefined, estimate: Quantities): unknown {
  const count = (unit: keyof Quantities): number => {
    const value = usage?.[unit] ?? estimate[unit] ?? 0
    return Number.isSafeInteger(value) && value >= 0 ? value : 0
  }
  const cached = count('cached_input_token')
  const prompt = count('input_token') + cached + count('cache_write_token')
  const output = count('output_token')
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cached },
  }
}
