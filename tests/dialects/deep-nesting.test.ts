/** Whatever is nested too deeply to be written again, no relay throws, and usage is read. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stringifyStorable, stringifyWellFormed } from '../../server/base/lib/text/well-formed.ts'
import { expectWhole } from '../../server/wire/dialects/chat/expect-body.ts'
import { readChatBody } from '../../server/wire/dialects/chat/read-body.ts'
import { createChatRelay } from '../../server/wire/dialects/chat/relay.ts'
import { translateToContents } from '../../server/wire/dialects/chat-over-contents/request.ts'
import { translateChatRequest } from '../../server/wire/dialects/chat-over-messages/request.ts'
import {
  createChatBody,
  createChatStream,
} from '../../server/wire/dialects/chat-over-messages/writer.ts'
import { hideInBody } from '../../server/wire/dialects/hide-error.ts'
import { createImagesBody } from '../../server/wire/dialects/images/body.ts'
import { createImagesTap } from '../../server/wire/dialects/images/tap.ts'
import { DEFAULT_MESSAGES_QUIRKS } from '../../server/wire/dialects/messages/quirks.ts'
import { readMessagesBody } from '../../server/wire/dialects/messages/read-body.ts'
import { createMessagesTap } from '../../server/wire/dialects/messages/tap.ts'
import {
  createMessagesBody,
  createMessagesStream,
} from '../../server/wire/dialects/messages-over-chat/writer.ts'
import type { Relay } from '../../server/wire/dialects/relay.ts'
import { readResponseBody } from '../../server/wire/dialects/responses/read-response.ts'
import { createResponsesTap } from '../../server/wire/dialects/responses/tap.ts'
import {
  createResponsesBody,
  createResponsesStream,
} from '../../server/wire/dialects/responses-over-chat/writer.ts'
import { createBodyTap } from '../../server/wire/dialects/tap.ts'
import { createTranscriptTap } from '../../server/wire/dialects/transcription/read-usage.ts'
import { answerOptions as messageOptions } from './messages-over-chat/answer-options.ts'
import { run } from './replay.ts'
import { answerOptions as responseOptions } from './responses-over-chat/answer-options.ts'
import { toMessages } from './responses-over-chat/translate.ts'

const MARK = '"<deep>"'
/** Members whose names are numbers are written by recursion. */
const DEEP = `${'{"0":'.repeat(20_000)}1${'}'.repeat(20_000)}`

/** Each document with something deep in the place of a value, or beside it. */
function* deepen(document: unknown): Generator<unknown> {
  yield '<deep>'
  if (Array.isArray(document)) {
    for (const [index, item] of document.entries()) {
      for (const deep of deepen(item)) yield document.with(index, deep)
    }
  } else if (typeof document === 'object' && document !== null) {
    yield { ...document, deep: '<deep>' }
    for (const [name, value] of Object.entries(document)) {
      for (const deep of deepen(value)) yield { ...document, [name]: deep }
    }
  }
}

const print = (document: unknown) => JSON.stringify(document).replaceAll(MARK, DEEP)
const toEvents = (documents: readonly unknown[]) =>
  documents.map((document) => `data: ${print(document)}\n\n`).join('')

const tokens = { input_tokens: 10, output_tokens: 5 }
const call = { index: 0, id: 'call_1', function: { name: 'f', arguments: { a: 1 } } }
const reply = { role: 'assistant', content: 'hello', tool_calls: [call], annotations: [{ a: 1 }] }
const usage = { prompt_tokens: 10, completion_tokens: 5 }
const completion = { choices: [{ message: reply, finish_reason: 'stop', logprobs: {} }], usage }
const chunks = [
  { choices: [{ index: 0, delta: reply, logprobs: { content: [{ token: 'a' }] } }] },
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
]
const lastChunk = { choices: [], usage }

const content = [
  { type: 'text', text: 'hello' },
  { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } },
]
const message = { type: 'message', role: 'assistant', content, usage: tokens }
const blocks = content.map((content_block, index) => {
  return { type: 'content_block_start', index, content_block }
})
const lastMessages = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: tokens },
  { type: 'message_stop' },
]
const item = { type: 'message', id: 'msg_1', content: [{ type: 'output_text', text: 'hello' }] }
const response = { id: 'resp_1', object: 'response', output: [item], usage: tokens, error: null }
const failed = { type: 'error', error: { message: 'm', type: 't', inner: { a: 1 } } }

type Case = readonly [
  name: string,
  create: () => Relay,
  first: readonly unknown[],
  last?: readonly unknown[],
]
const chatRelay = () => createChatRelay({ includeUsage: true })
const wholeChat = () => expectWhole(createBodyTap((document) => readChatBody(document)))
const chatOptions = {
  id: 'chatcmpl-1',
  model: 'm',
  created: 1,
  includeUsage: true,
  inputTokensEstimate: 1,
}
const STREAMS: readonly Case[] = [
  ['chat', chatRelay, chunks, [lastChunk]],
  ['chat, an error', chatRelay, [failed]],
  ['chat, collected', wholeChat, chunks, [lastChunk]],
  ['messages over chat', () => createMessagesStream(messageOptions()), chunks, [lastChunk]],
  ['responses over chat', () => createResponsesStream(responseOptions()), chunks, [lastChunk]],
  ['messages', () => createMessagesTap(), blocks, lastMessages],
  ['messages, an error', () => createMessagesTap(), [failed]],
  [
    'chat over messages',
    () => createChatStream(chatOptions),
    [{ type: 'message_start', message }, ...blocks],
    lastMessages,
  ],
  [
    'responses',
    () => createResponsesTap(),
    [
      { type: 'response.created', response },
      { type: 'response.output_item.done', output_index: 0, item },
    ],
    [{ type: 'response.completed', response }],
  ],
  ['responses, an error', () => createResponsesTap(), [failed]],
  ['images', () => createImagesTap(1), [{ type: 'image_generation.completed', b64_json: 'AA' }]],
  ['transcripts', () => createTranscriptTap(), [{ type: 'transcript.text.delta', delta: 'a' }]],
]

for (const [name, create, first, last] of STREAMS) {
  test(`a stream: ${name}`, () => {
    for (const events of deepen(first)) {
      if (!Array.isArray(events)) continue
      const relay = create()
      run(relay, [Buffer.from(`${toEvents([...events, ...(last ?? [])])}data: [DONE]\n\n`)])
      const report = relay.report()
      if (last) assert.ok(report.usage || report.error, JSON.stringify(events))
      else assert.ok(report)
    }
  })
}

const BODIES: readonly Case[] = [
  ['chat', wholeChat, [completion]],
  ['chat, unfolded', chatRelay, [completion]],
  ['messages over chat', () => createMessagesBody(messageOptions()), [completion]],
  ['responses over chat', () => createResponsesBody(responseOptions()), [completion]],
  ['messages', () => createBodyTap((document) => readMessagesBody(document)), [message]],
  ['chat over messages', () => createChatBody(chatOptions), [message]],
  ['responses', () => createBodyTap((document) => readResponseBody(document)), [response, failed]],
  ['images', () => createImagesBody(), [{ created_at: 1, data: [{ url: 'a' }], usage: tokens }]],
]

for (const [name, create, documents] of BODIES) {
  test(`a whole answer: ${name}`, () => {
    for (const document of documents) {
      for (const deep of deepen(document)) {
        const relay = create()
        const body = Buffer.from(print(deep))
        const out = run(relay, [body])
        assert.ok(out.length > 0)
        // A document whose choices are something else is refused.
        assert.ok(relay.report().finished || relay.report().error)
        assert.ok(hideInBody(body).length > 0)
      }
    }
  })
}

for (const [name, deep] of [
  ['names that are numbers', DEEP],
  ['half of a surrogate pair', `${'{"a":'.repeat(20_000)}"\\ud800"${'}'.repeat(20_000)}`],
] as const) {
  test(`a request whose texts hold deep JSON with ${name} is written`, () => {
    const messages = [
      { role: 'user', content: 'a \ud800' },
      {
        role: 'assistant',
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: deep } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: deep },
    ]
    const generation = { number: 3, thinks: true, isPro: false }
    const rest = { stream: true, sellsSearch: false, hasIds: true, replacesSignatures: false }
    const { body } = translateToContents({ messages }, { generation, ...rest })
    const { contents } = JSON.parse(body.toString())
    assert.deepEqual(contents[1].parts[0].functionCall.args, { raw_arguments: deep })
    assert.deepEqual(contents[2].parts[0].functionResponse.response, { output: deep })
    const options = { upstreamModel: 'm', stream: true, quirks: DEFAULT_MESSAGES_QUIRKS }
    const sent = JSON.parse(translateChatRequest({ messages }, options).body.toString())
    assert.deepEqual(sent.messages[1].content[0].input, { raw_arguments: deep })
    const ran = { type: 'mcp_call', id: 'mcp_1', name: 'f', arguments: deep, output: 'done' }
    const [asked] = toMessages([ran]) as { tool_calls: { function: object }[] }[]
    assert.deepEqual(asked?.tool_calls[0]?.function, { name: 'f', arguments: '{}' })
  })

  test(`a document that holds deep JSON with ${name} is stored and written`, () => {
    const document = { a: '\ud800', deep: JSON.parse(deep), b: 'x' }
    for (const write of [stringifyStorable, stringifyWellFormed]) {
      const { a, b } = JSON.parse(write(document))
      assert.deepEqual([a, b], ['\ufffd', 'x'])
    }
  })
}
