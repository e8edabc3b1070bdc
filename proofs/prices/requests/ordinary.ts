/** Regular requests. */
import type { Random } from '../../../testbed/random.ts'
import { markerOf } from '../plan.ts'
import { prose } from './filler.ts'

export type Body = Record<string, unknown>

export interface RequestSpec {
  readonly id: number
  readonly model: string
  readonly bytes: number
  readonly stream: boolean
  /** The output limit in the request, if any. */
  readonly limit: number | undefined
}

const SYSTEM = 'You are a geographer. Answer briefly.'

/** Turns before the last one, of alternating roles. */
function history(random: Random, bytes: number): { role: string; content: string }[] {
  const turns = random.integer(0, 3)
  return Array.from({ length: turns * 2 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: prose(Math.max(10, Math.floor(bytes / (turns * 2)))),
  }))
}

function question({ id, bytes }: RequestSpec): string {
  return `${markerOf(id)} Name three rivers. ${prose(Math.floor(bytes / 2))}`
}

function sampling(random: Random): Body {
  return random.next() < 0.4 ? { temperature: 0.7, top_p: 0.9 } : {}
}

const PARAMETERS = {
  type: 'object',
  properties: { river: { type: 'string', description: 'Its name.' } },
  required: ['river'],
}

export function chatBody(random: Random, spec: RequestSpec): Body {
  const { model, stream, limit, bytes } = spec
  const limitField = random.next() < 0.6 ? 'max_completion_tokens' : 'max_tokens'
  const includes = random.next() < 0.5
  return {
    model,
    messages: [
      ...(random.next() < 0.6 ? [{ role: 'system', content: SYSTEM }] : []),
      ...history(random, Math.floor(bytes / 2)),
      { role: 'user', content: question(spec) },
    ],
    ...(limit === undefined ? {} : { [limitField]: limit }),
    ...(stream ? { stream: true } : {}),
    ...(stream && includes ? { stream_options: { include_usage: random.next() < 0.8 } } : {}),
    ...sampling(random),
    ...(random.next() < 0.15
      ? { tools: [{ type: 'function', function: { name: 'look_up', parameters: PARAMETERS } }] }
      : {}),
    ...(random.next() < 0.1 ? { user: 'user-7', metadata: { ticket: '1' } } : {}),
  }
}

export function responsesBody(random: Random, spec: RequestSpec): Body {
  const { model, stream, limit } = spec
  const text = question(spec)
  const input =
    random.next() < 0.4 ? text : [{ role: 'user', content: [{ type: 'input_text', text }] }]
  return {
    model,
    input,
    ...(random.next() < 0.5 ? { instructions: SYSTEM } : {}),
    ...(limit === undefined ? {} : { max_output_tokens: limit }),
    ...(stream ? { stream: true } : {}),
    ...(random.next() < 0.5 ? { store: false } : {}),
    ...(random.next() < 0.15
      ? { tools: [{ type: 'function', name: 'look_up', parameters: PARAMETERS, strict: false }] }
      : {}),
  }
}

export function messagesBody(random: Random, spec: RequestSpec): Body {
  const { model, stream, limit = 4_096, bytes } = spec
  const text = question(spec)
  const content = random.next() < 0.5 ? text : [{ type: 'text', text }]
  return {
    model,
    max_tokens: limit,
    messages: [...history(random, Math.floor(bytes / 2)), { role: 'user', content }],
    ...(random.next() < 0.6 ? { system: SYSTEM } : {}),
    ...(stream ? { stream: true } : {}),
    ...(random.next() < 0.15
      ? { tools: [{ name: 'look_up', description: 'A river.', input_schema: PARAMETERS }] }
      : {}),
  }
}

/** `stream` goes into the path. */
export function contentsBody(random: Random, spec: RequestSpec): Body {
  const { limit, bytes } = spec
  const turns = history(random, Math.floor(bytes / 2)).map(({ role, content }) => {
    return { role: role === 'user' ? 'user' : 'model', parts: [{ text: content }] }
  })
  return {
    contents: [...turns, { role: 'user', parts: [{ text: question(spec) }] }],
    ...(limit === undefined ? {} : { generationConfig: { maxOutputTokens: limit } }),
    ...(random.next() < 0.5 ? { systemInstruction: { parts: [{ text: SYSTEM }] } } : {}),
  }
}
