// The message as one JSON body, and the parts that the stream shares with it.
import { isObject, type Json } from '../kernel/checks.ts'
import type { Exchange } from '../kernel/exchange.ts'
import { answerId } from '../kernel/identifiers.ts'
import type { Answer } from '../model/answer.ts'
import { SIGNATURE } from './messages.ts'

export interface MessageAnswer {
  answer: Answer
  id: string
  model: string
  callIds: string[]
  signature: string
}

const STOPS: Record<string, string> = {
  end: 'end_turn',
  length: 'max_tokens',
  tools: 'tool_use',
  'stop-sequence': 'stop_sequence',
  filter: 'refusal',
}

export const stopReason = ({ stop }: Answer): string => STOPS[stop] ?? stop

export function messageAnswer(exchange: Exchange, answer: Answer, model: string): MessageAnswer {
  return {
    answer,
    id: answerId(exchange, 'msg_'),
    model,
    callIds: answer.calls.map(() => answerId(exchange, 'toolu_')),
    signature: `${SIGNATURE}${Buffer.from(answer.reason).toString('base64url').slice(0, 40)}`,
  }
}

/** Input excludes tokens read from or written to the cache. */
export function messageUsage({ answer }: MessageAnswer): Json {
  const { input, cached, cacheWrite, output } = answer.tokens
  return {
    input_tokens: input - cached - cacheWrite,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cached,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: 0 },
    output_tokens: output,
    service_tier: 'standard',
  }
}

function contentBlocks({ answer, callIds, signature }: MessageAnswer): Json[] {
  const blocks: Json[] = []
  if (answer.reason !== '') blocks.push({ type: 'thinking', thinking: answer.reason, signature })
  if (answer.text !== '') blocks.push({ type: 'text', text: answer.text, citations: null })
  for (const [index, call] of answer.calls.entries()) {
    const { name } = call.tool
    blocks.push({ type: 'tool_use', id: callIds[index], name, input: inputOf(call.args) })
  }
  return blocks
}

function inputOf(args: string): unknown {
  try {
    const parsed: unknown = JSON.parse(args)
    return isObject(parsed) ? parsed : {}
  } catch {
    return {}
  }
}

export function wholeMessage(message: MessageAnswer): Json {
  const { answer, id, model } = message
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: contentBlocks(message),
    stop_reason: stopReason(answer),
    stop_sequence: answer.stopSequence ?? null,
  }
}
