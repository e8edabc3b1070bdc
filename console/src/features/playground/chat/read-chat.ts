/** Reads a streamed answer of any of the three dialects into one growing reply. */

import { readEvents } from '../frame/call/read-stream.ts'
import { expectNoError } from '../frame/call/send-order.ts'
import type { ResultReading } from '../frame/capability.ts'
import type { PlaygroundRequest } from '../frame/order.ts'
import { DIALECTS, type Reply } from './values.ts'

type Step = (reply: Reply, event: never) => Reply

/** Throws ApiError for an answer that breaks off. */
export async function readChat(
  response: Response,
  { startedAt, show }: ResultReading<Reply>,
  { path }: PlaygroundRequest,
): Promise<Reply> {
  const step = STEPS[path] ?? readChunk
  let reply: Reply = { text: '', reasoning: '' }
  for await (const event of readEvents(response)) {
    expectNoError(event)
    const next = step(reply, event as never)
    if (next === reply) continue
    const isFirst = reply.firstMs === undefined && next.text + next.reasoning !== ''
    reply = isFirst ? { ...next, firstMs: performance.now() - startedAt } : next
    show(reply)
  }
  return reply
}

interface Chunk {
  readonly choices?: readonly {
    readonly delta?: {
      readonly content?: string | null
      readonly reasoning_content?: string | null
    }
    readonly finish_reason?: string | null
  }[]
  readonly usage?: {
    readonly prompt_tokens: number
    readonly completion_tokens: number
    readonly prompt_tokens_details?: { readonly cached_tokens?: number }
  } | null
}

function readChunk(reply: Reply, { choices, usage }: Chunk): Reply {
  const { delta, finish_reason: reason } = choices?.[0] ?? {}
  const extended = extend(reply, delta?.content ?? '', delta?.reasoning_content ?? '')
  const ended = reason === 'length' ? { ...extended, isCutOff: true } : extended
  if (!usage) return ended
  const { prompt_tokens: input, completion_tokens: output } = usage
  const cached = usage.prompt_tokens_details?.cached_tokens ?? 0
  return { ...ended, usage: { input, output, cached } }
}

interface MessageEvent {
  readonly type?: string
  readonly message?: { readonly usage?: MessageUsage }
  readonly delta?: {
    readonly text?: string
    readonly thinking?: string
    readonly stop_reason?: string
  }
  readonly usage?: MessageUsage
}

interface MessageUsage {
  readonly input_tokens?: number
  readonly output_tokens?: number
  readonly cache_read_input_tokens?: number
}

function readMessageEvent(reply: Reply, { message, delta, usage }: MessageEvent): Reply {
  const extended = extend(reply, delta?.text ?? '', delta?.thinking ?? '')
  const ended = delta?.stop_reason === 'max_tokens' ? { ...extended, isCutOff: true } : extended
  const latest = usage ?? message?.usage
  if (!latest) return ended
  const before = reply.usage ?? { input: 0, output: 0, cached: 0 }
  return {
    ...ended,
    usage: {
      input: latest.input_tokens ?? before.input,
      output: latest.output_tokens ?? before.output,
      cached: latest.cache_read_input_tokens ?? before.cached,
    },
  }
}

interface ResponseEvent {
  readonly type?: string
  readonly delta?: string
  readonly response?: {
    readonly usage?: {
      readonly input_tokens: number
      readonly output_tokens: number
      readonly input_tokens_details?: { readonly cached_tokens?: number }
    } | null
    readonly error?: { readonly message: string } | null
  }
}

function readResponseEvent(reply: Reply, { type, delta = '', response }: ResponseEvent): Reply {
  if (type === 'response.output_text.delta') return extend(reply, delta, '')
  if (type === 'response.reasoning_summary_text.delta') return extend(reply, '', delta)
  if (type === 'response.failed') expectNoError(response)
  const usage = response?.usage
  if (!usage) return reply
  const { input_tokens: input, output_tokens: output } = usage
  const cached = usage.input_tokens_details?.cached_tokens ?? 0
  const isCutOff = type === 'response.incomplete' ? { isCutOff: true } : {}
  return { ...reply, ...isCutOff, usage: { input, output, cached } }
}

function extend(reply: Reply, text: string, reasoning: string): Reply {
  if (text === '' && reasoning === '') return reply
  return { ...reply, text: reply.text + text, reasoning: reply.reasoning + reasoning }
}

const STEPS: Readonly<Record<string, Step>> = {
  [DIALECTS.completions]: readChunk,
  [DIALECTS.messages]: readMessageEvent,
  [DIALECTS.responses]: readResponseEvent,
}
