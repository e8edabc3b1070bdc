/**
 * Measures the CPU that each relay adds to a stream of 100 chunks. A bare proxy spends about a
 * millisecond on such a stream; pass-through may add 15 % to it, translation may double it.
 */
import { createChatRelay } from '../server/wire/dialects/chat/relay.ts'
import { createChatStream } from '../server/wire/dialects/chat-over-messages/writer.ts'
import { createMessagesTap } from '../server/wire/dialects/messages/tap.ts'
import { createToolNames } from '../server/wire/dialects/messages-over-chat/tool-names.ts'
import { createMessagesStream } from '../server/wire/dialects/messages-over-chat/writer.ts'
import type { Relay } from '../server/wire/dialects/relay.ts'
import { encodeSseEvent } from '../server/wire/dialects/sse.ts'
import { median, readConditions, report, round, table } from '../testbed/results.ts'

const CHUNKS = 100
const STREAMS_PER_SAMPLE = 200
const SAMPLES = 15
const WARM_UP_SAMPLES = 5

/** Typical model output: every fourth piece has a character that JSON escapes. */
const PIECES = [' plain', ' words', ' and 字', '\n"quoted"']

const piece = (position: number) => `${PIECES[position % PIECES.length]}${position}`

function chatChunk(delta: object, reason: string | null): Buffer {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: reason }]
  const head = { id: 'chatcmpl-12345', object: 'chat.completion.chunk', created: 1, model: 'm' }
  return Buffer.from(encodeSseEvent(undefined, JSON.stringify({ ...head, choices, usage: null })))
}

function chatStream(): Buffer[] {
  const texts = Array.from({ length: CHUNKS }, (_, at) => chatChunk({ content: piece(at) }, null))
  const first = chatChunk({ role: 'assistant', content: '' }, null)
  return [first, ...texts, chatChunk({}, 'stop'), Buffer.from('data: [DONE]\n\n')]
}

function event(data: { readonly type: string; readonly [field: string]: unknown }): Buffer {
  return Buffer.from(encodeSseEvent(data.type, JSON.stringify(data)))
}

function messagesStream(): Buffer[] {
  const texts = Array.from({ length: CHUNKS }, (_, at) => {
    const delta = { type: 'text_delta', text: piece(at) }
    return event({ type: 'content_block_delta', index: 0, delta })
  })
  const usage = { input_tokens: 10, output_tokens: 1 }
  return [
    event({ type: 'message_start', message: { content: [], usage } }),
    event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...texts,
    event({ type: 'content_block_stop', index: 0 }),
    event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage }),
    event({ type: 'message_stop' }),
  ]
}

const context = { toolNames: createToolNames(), prefill: '', showsThinking: true }
const common = { id: 'x_1', model: 'm', inputTokensEstimate: 10 }
const chat = chatStream()
const messages = messagesStream()

const RELAYS: readonly (readonly [string, () => Relay, readonly Buffer[]])[] = [
  ['chat, passed on', () => createChatRelay({ includeUsage: false, id: 'x' }), chat],
  ['messages, passed on', () => createMessagesTap(), messages],
  ['messages over chat', () => createMessagesStream({ ...common, context }), chat],
  [
    'chat over messages',
    () => createChatStream({ ...common, created: 1, includeUsage: true }),
    messages,
  ],
]

function cpuMicrosecondsPerStream(create: () => Relay, chunks: readonly Buffer[]): number {
  const before = process.cpuUsage()
  for (let count = 0; count < STREAMS_PER_SAMPLE; count += 1) {
    const relay = create()
    for (const chunk of chunks) relay.push(chunk)
    relay.end()
    if (!relay.report().finished) throw new Error('the stream has no ending')
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / STREAMS_PER_SAMPLE
}

const figures = RELAYS.map(([name, create, chunks]) => {
  const sample = () => cpuMicrosecondsPerStream(create, chunks)
  for (let count = 0; count < WARM_UP_SAMPLES; count += 1) sample()
  return { name, microseconds: round(median(Array.from({ length: SAMPLES }, sample))) }
})

report('relays', readConditions('node benchmarks/relays.ts'), { chunks: CHUNKS, figures }, [
  `CPU per stream of ${CHUNKS} text chunks, one chunk per push:`,
  ...table(figures.map(({ name, microseconds }) => [name, `${microseconds} µs`])),
])
