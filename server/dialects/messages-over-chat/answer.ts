/** What a message answer says besides its content: usage, why it stopped, who asked. */
import { estimateTokensOfBytes } from '../../lib/estimate-tokens.ts'
import type { Quantities } from '../../lib/units.ts'
import type { AnswerContext } from './request.ts'

export interface AnswerOptions {
  /** The message's id, `msg_…`. */
  readonly id: string
  /** The model id the caller named. */
  readonly model: string
  /** Stands in for the input tokens until the upstream states them. */
  readonly inputTokensEstimate: number
  readonly context: AnswerContext
}

export interface MessagesUsage {
  readonly input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
  readonly output_tokens: number
}

/** The usage of an answer; estimates where the upstream said nothing that is a count. */
export function buildUsage(
  usage: Quantities | undefined,
  inputTokensEstimate: number,
  outputBytes: number,
): MessagesUsage {
  return {
    input_tokens: readCount(usage?.input_token) ?? inputTokensEstimate,
    cache_creation_input_tokens: readCount(usage?.cache_write_token) ?? 0,
    cache_read_input_tokens: readCount(usage?.cached_input_token) ?? 0,
    output_tokens: readCount(usage?.output_token) ?? estimateTokensOfBytes(outputBytes),
  }
}

function readCount(value: number | undefined): number | undefined {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

export interface Ending {
  /** The chat format's finish reason, if the upstream gave one. */
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

/** Clients act on `tool_use`: an answer that calls a tool says so, whatever the upstream said. */
export function toStopFields({ reason, stopSequence, hasTools, hasRefusal }: Ending): StopFields {
  const known = hasRefusal ? 'refusal' : REASONS.get(reason ?? '')
  if (known) return { stop_reason: known, stop_sequence: null }
  if (hasTools) return { stop_reason: 'tool_use', stop_sequence: null }
  if (reason === 'stop' && stopSequence !== undefined) {
    return { stop_reason: 'stop_sequence', stop_sequence: stopSequence }
  }
  return { stop_reason: 'end_turn', stop_sequence: null }
}

/** A tool call id of our own, for upstreams without ids: unique as the message's id is. */
export function mintToolId(messageId: string, position: number): string {
  return `toolu_${messageId.replace(/^msg_/, '')}_${position}`
}
