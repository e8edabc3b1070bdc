/** A relay skips events that are like one it has read; what it returns and counts is the same. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createChatRelay } from '../../server/wire/dialects/chat/relay.ts'
import { createFrameTemplate, spellKeys } from '../../server/wire/dialects/frame-template.ts'
import { createMessagesTap } from '../../server/wire/dialects/messages/tap.ts'
import type { Relay } from '../../server/wire/dialects/relay.ts'
import { anyText } from '../support/any-text.ts'
import { cutAt, run } from './replay.ts'

const HEAD = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
const text = anyText({ maxLength: 6 })
/** As it stands in JSON: also with what no string may have. */
const written = fc.oneof(
  { weight: 8, arbitrary: text.map((value) => JSON.stringify(value).slice(1, -1)) },
  fc.constantFrom('\\n', '\\u00e9', '\\', '"', '\t', 'a\nb', 'a\n\nb', '\\"', '\\x', '\u0000'),
  fc.constantFrom(
    '\\"usage\\":{\\"completion_tokens\\":9}',
    '"},"usage":{"completion_tokens":9},"x":{"a":"',
  ),
)
const ends = ['\n\n', '\r\n\r\n', '\r\r', '\n\r\n', '\r\n\n', '\n', '\n\n\n', '\r']

/** Most events of a body end alike. */
function bodyOf(events: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const odd = fc.oneof({ weight: 8, arbitrary: fc.constant('') }, fc.constantFrom(...ends))
  const parts = fc.array(fc.tuple(events, odd), { maxLength: 12 })
  return fc.tuple(fc.constantFrom(...ends.slice(0, 3)), parts).map(([usual, all]) => {
    return all.map(([event, end]) => event + (end || usual)).join('')
  })
}

function chatEvent(content: string, members = ''): string {
  const head = JSON.stringify(HEAD).slice(0, -1)
  return `data: ${head},"choices":[{"index":0,"delta":{"content":"${content}"}}]${members}}`
}

function messagesEvent(content: string, field = 'text'): string {
  const head = '{"type":"content_block_delta","index":0,"delta":{"type":'
  return `event: content_block_delta\ndata: ${head}"${field}_delta","${field}":"${content}"}}`
}

const USAGES = [
  ',"usage":{"completion_tokens":7}',
  ',"us\\u0061ge":{"completion_tokens":8}',
  ',"usage":{"completion_tokens":7},"usage":{"completion_tokens":6}',
  ',\ndata: "usage":{"completion_tokens":5}',
]
const padding = fc.oneof({ weight: 4, arbitrary: fc.constantFrom('', 'x', 'Ab3') }, written)
const chat = fc.oneof(
  { weight: 8, arbitrary: written.map((content) => chatEvent(content)) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(written, padding, fc.constantFrom('', USAGES[0]))
      .map(([content, pad, before = '']) => chatEvent(content, `${before},"obfuscation":"${pad}"`)),
  },
  fc.tuple(written, written).map(([content, other]) => {
    const text = content.length % 3 === 0 ? other : content
    return chatEvent(content, `,"reasoning_details":[{"text":"${text}"}]`)
  }),
  fc.tuple(written, fc.constantFrom(...USAGES)).map(([content, more]) => chatEvent(content, more)),
  fc.constantFrom(
    '\uFEFF',
    'data:\ndata: 1\n',
    ': wait',
    '',
    'data: [DONE]',
    'data: {',
    'data: {"error":{"message":"no"}}',
  ),
)
const messages = fc.oneof(
  { weight: 8, arbitrary: written.map((content) => messagesEvent(content)) },
  written.map((content) => messagesEvent(content, 'thinking')),
  fc.constantFrom(
    ': wait',
    'event: ping\ndata: {"type":"ping"}',
    'event: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":7}}',
    'event: message_stop\ndata: {"type":"message_stop"}',
    'event: content_block_delta\ndata: {',
  ),
)

const DIALECTS = [
  { name: 'chat', events: chat, create: () => createChatRelay({ includeUsage: true, id: 'i' }) },
  { name: 'messages', events: messages, create: () => createMessagesTap() },
]

function read(create: () => Relay, chunks: readonly Buffer[]) {
  const relay = create()
  const out = run(relay, chunks)
  // Where CR and LF come apart, the LF is a line more, which means nothing.
  const hasCr = chunks.some((chunk) => chunk.includes('\r'))
  return { out: hasCr ? out.split(/[\r\n]+/).filter(Boolean) : out, report: relay.report() }
}

for (const { name, events, create } of DIALECTS) {
  test(`a ${name} stream gives the same bytes and counts however its events arrive`, () => {
    const sizes = fc.array(fc.oneof(fc.nat(12), fc.nat(500)), { maxLength: 12 })
    fc.assert(
      fc.property(bodyOf(events), sizes, (body, chunkSizes) => {
        const bytes = Buffer.from(body)
        const expected = read(
          create,
          Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)),
        )
        assert.deepEqual(read(create, [bytes]), expected)
        assert.deepEqual(read(create, cutAt(bytes, chunkSizes)), expected)
      }),
      { numRuns: 600 },
    )
  })
}

const PADDED = [
  { key: '"obfuscation":', end: '}\n\n' },
  { key: '"p": ', end: ' }\r\n\r\n' },
]

for (const { key, end } of PADDED) {
  test(`events that differ in their text and in ${key} are skipped, and no others`, () => {
    const texts: number[] = []
    const template = createFrameTemplate(spellKeys('content'), (bytes) => void texts.push(bytes))
    const encode = (content: string, pad: string, more = '') =>
      `data: {"choices":[{"delta":{"content":"${content}"}}],"usage":null,${key}"${pad}"${more}${end}`
    const skip = (...events: readonly string[]) => template.skip(Buffer.from(events.join('')), 0)
    template.learn(Buffer.from(encode('one', 'xyz')), 'one')
    const alike = [encode('three', ''), encode('\\u00e9', 'Ab3'), encode('four', '\\"')]
    assert.equal(skip(...alike), Buffer.byteLength(alike.join('')))
    assert.deepEqual(texts, [5, 2, 4])
    const others = [
      encode('two', 'x').replace('null', '{"completion_tokens":7}'),
      encode('two', 'x', ',"usage":{"completion_tokens":7}'),
      encode('two', '\\x'),
      encode('two', 'a\nb'),
      encode('two', 'x').slice(0, -1),
      `data: {"choices":[{"delta":{"content":"two"}}],"usage":null}${end.trim()}\n\n`,
    ]
    for (const other of others) {
      assert.equal(skip(other), 0, other)
      assert.equal(skip(encode('one', 'y'), other), encode('one', 'y').length, other)
    }
    const sorted = ',"usage":null'
    template.learn(Buffer.from(encode('one', 'xyz', sorted)), 'one')
    assert.equal(skip(encode('two', 'x', sorted)), Buffer.byteLength(encode('two', 'x', sorted)))
    assert.equal(skip(encode('two', 'x', ',"usage":{}')), 0)
  })
}

test('events that repeat their text are skipped, and none with two texts', () => {
  const texts: number[] = []
  const template = createFrameTemplate(spellKeys('reasoning'), (bytes) => void texts.push(bytes))
  const encode = (one: string, other = one, pad = '') =>
    `data: {"choices":[{"delta":{"reasoning":"${one}","reasoning_details":[{"type":` +
    `"reasoning.text","text":"${other}","index":0}]}}],"p":"${pad}"}\n\n`
  const skip = (...events: readonly string[]) => template.skip(Buffer.from(events.join('')), 0)
  template.learn(Buffer.from(encode('one')), 'one')
  const alike = [encode('three'), encode('\\u00e9', '\\u00e9', 'xy'), encode('')]
  assert.equal(skip(...alike), Buffer.byteLength(alike.join('')))
  assert.deepEqual(texts, [5, 2, 0])
  for (const other of ['two!', 'tw', 'twx', 'two"', 'two\\"', 'two","x":"two']) {
    assert.equal(skip(encode('two', other)), 0, other)
  }
  assert.equal(skip(encode('two').slice(0, -40)), 0)
})
