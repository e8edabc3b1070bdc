/** What a response says besides its output: who asked, what it cost, why it ended. */
import { estimateTokensOfBytes } from '../../lib/estimate-tokens.ts'
import { type JsonObject, member } from '../../lib/json.ts'
import type { Quantities } from '../../lib/units.ts'
import type { AnswerContext } from './request.ts'

export interface AnswerOptions {
  /** The response's id, `resp_…`. */
  readonly id: string
  readonly createdAtSeconds: number
  /** The model id the caller named. */
  readonly model: string
  /** Stands in for the input tokens until the upstream states them. */
  readonly inputTokensEstimate: number
  readonly context: AnswerContext
}

export type ResponseStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed'

/** What changes in a response between its first event and its last. */
export interface ResponseState {
  readonly status: ResponseStatus
  readonly output: readonly JsonObject[]
  readonly usage?: JsonObject
  readonly error?: JsonObject
  /** Why the response is incomplete. */
  readonly reason?: string
}

export function buildResponse(options: AnswerOptions, state: ResponseState): JsonObject {
  const { status, output, usage = null, error = null, reason } = state
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
  }
}

/** Ways to end, by the chat format's finish reason; any other is a completion. */
const INCOMPLETE: ReadonlyMap<string, string> = new Map([
  ['length', 'max_output_tokens'],
  ['max_tokens', 'max_output_tokens'],
  ['content_filter', 'content_filter'],
])

/** Undefined for an answer that is complete. */
export function readIncompleteReason(finishReason: string | undefined): string | undefined {
  return INCOMPLETE.get(finishReason ?? '')
}

/** Thought tokens are part of the output tokens; the chat format tells them apart in details. */
export function readReasoningTokens(document: unknown): number | undefined {
  const details = member(member(document, 'usage'), 'completion_tokens_details')
  return readCount(member(details, 'reasoning_tokens'))
}

/** The usage of an answer; estimates where the upstream said nothing that is a count. */
export function buildUsage(
  usage: Quantities | undefined,
  reasoningTokens: number | undefined,
  inputTokensEstimate: number,
  outputBytes: number,
): JsonObject {
  const cached = readCount(usage?.cached_input_token) ?? 0
  const written = readCount(usage?.cache_write_token) ?? 0
  const fresh = readCount(usage?.input_token) ?? inputTokensEstimate
  const input = fresh + cached + written
  const output = readCount(usage?.output_token) ?? estimateTokensOfBytes(outputBytes)
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoningTokens ?? 0 },
    total_tokens: input + output,
  }
}

function readCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}
