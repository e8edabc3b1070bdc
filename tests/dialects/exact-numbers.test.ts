/** Numbers that no double holds, such as ids, are in arguments of tools what the model wrote. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tryParseExact } from '../../server/base/lib/exact-numbers.ts'
import { createInnerReader } from '../../server/base/lib/inner-json.ts'
import { writeJson } from '../../server/base/lib/json.ts'
import { createContentsChat } from '../../server/wire/dialects/chat-over-contents/answer.ts'
import { translateToContents } from '../../server/wire/dialects/chat-over-contents/request.ts'
import { translateChatRequest } from '../../server/wire/dialects/chat-over-messages/request.ts'
import {
  createChatBody,
  createChatStream,
} from '../../server/wire/dialects/chat-over-messages/writer.ts'
import { createMessagesCollector } from '../../server/wire/dialects/messages/collect-stream.ts'
import { DEFAULT_MESSAGES_QUIRKS } from '../../server/wire/dialects/messages/quirks.ts'
import { createMessagesUnfolder } from '../../server/wire/dialects/messages/unfold-body.ts'
import { createMessagesBody } from '../../server/wire/dialects/messages-over-chat/writer.ts'
import type { Relay } from '../../server/wire/dialects/relay.ts'
import {
  openReasoning,
  sealReasoning,
} from '../../server/wire/dialects/responses-over-chat/sealed-reasoning.ts'
import { calling, user } from './chat-over-messages/translate.ts'
import { answerOptions } from './messages-over-chat/answer-options.ts'
import { run } from './replay.ts'

const NUMBERS = ['9007199254740993', '-12345678901234567890', '123456789012345678901234567890']
const ARGUMENTS = `{"id":[${NUMBERS}],"plain":[1,2.5,-0.1,9007199254740991]}`
const ESCAPED = JSON.stringify(ARGUMENTS)

const CONTENTS_OPTIONS = {
  generation: { number: 3, thinks: true, isPro: false },
  stream: false,
  sellsSearch: false,
  hasIds: true,
  replacesSignatures: false,
}

const USAGE = '"usage":{"input_tokens":1,"output_tokens":1}'
const CALL = `{"type":"tool_use","id":"t","name":"look","input":${ARGUMENTS}}`
const MESSAGE = `{"id":"m","type":"message","role":"assistant","model":"m","content":[${CALL}],"stop_reason":"tool_use",${USAGE}}`
const FUNCTION = `{"id":"t","type":"function","function":{"name":"look","arguments":${ESCAPED}}}`
const COMPLETION = `{"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[${FUNCTION}]},"finish_reason":"tool_calls"}]}`
const CONTENTS = `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"look","args":${ARGUMENTS}}}]},"finishReason":"STOP"}]}`

const CHAT = { id: 'c', model: 'm', created: 1, includeUsage: true, inputTokensEstimate: 1 }
const contents = (stream: boolean) => {
  return createContentsChat({ ...CHAT, stream, reading: { billsQueries: true, isGrounded: false } })
}
const said = (relay: Relay, text: string) => run(relay, [Buffer.from(text)])
/** A JSON text inside of another one. */
const inner = (text: string) => JSON.stringify(text).slice(1, -1)

for (const [name, found, expected] of [
  ['a whole message', said(createChatBody(CHAT), MESSAGE), inner(ARGUMENTS)],
  ['a message for a stream', said(createChatStream(CHAT), MESSAGE), inner(ARGUMENTS)],
  ['a message made a stream', said(createMessagesUnfolder(), MESSAGE), inner(ARGUMENTS)],
  ['a whole completion', said(createMessagesBody(answerOptions()), COMPLETION), ARGUMENTS],
  ['whole contents', said(contents(false), CONTENTS), inner(ARGUMENTS)],
  ['streamed contents', said(contents(true), `data: ${CONTENTS}\n\n`), inner(ARGUMENTS)],
] as const) {
  test(`the answer: ${name}`, () => assert.ok(found.includes(expected), found))
}

test('the answer: a stream made a message', () => {
  const events = said(createMessagesUnfolder(), MESSAGE)
  assert.ok(said(createMessagesCollector(), events).includes(ARGUMENTS))
})

test('the history of a chat', () => {
  const call = { id: 't', type: 'function', function: { name: 'look', arguments: ARGUMENTS } }
  const messages = [user('hi'), calling(call), { role: 'tool', tool_call_id: 't', content: 'x' }]
  const native = { upstreamModel: 'm', stream: false, quirks: DEFAULT_MESSAGES_QUIRKS }
  for (const { body } of [
    translateToContents({ messages }, CONTENTS_OPTIONS),
    translateChatRequest({ messages }, native),
  ]) {
    assert.ok(body.toString().includes(ARGUMENTS), body.toString())
  }
})

test('integers between texts and under any name are kept', () => {
  for (const text of [
    '12345678901234567890',
    '{"__proto__":12345678901234567890,"é":"\\"1234567890123456\\\\","b":[[-98765432109876543210]]}',
    '["12345678901234567890","",12345678901234567890,"12345678901234567890"]',
  ]) {
    assert.equal(writeJson(tryParseExact(Buffer.from(text))), text)
  }
})

test('so they are in documents of up to 512 KiB with up to 10,000 of them', () => {
  const read = (text: string) => writeJson(tryParseExact(Buffer.from(text)))
  const rounded = (text: string) => JSON.stringify(JSON.parse(text))
  const rest = `{"a":[${'{"b":1,"c":"1234567890123456"},'.repeat(15_000)}1]}`
  const start = `[{"id":12345678901234567890,"ids":[1,-9007199254740993]},${rest},12345678901234567890,"`
  const full = `${start}${'x'.repeat(512 * 1024 - start.length - 2)}"]`
  assert.equal(read(full), full)
  const longer = full.replace('x"', 'xx"')
  assert.equal(read(longer), rounded(longer))
  const most = `[${'12345678901234567890,'.repeat(9_999)}12345678901234567890]`
  assert.equal(read(most), most)
  const more = most.replace('[', '[12345678901234567890,')
  assert.equal(read(more), rounded(more))
})

test('the texts of a request with such integers share one limit', () => {
  const id = 12345678901234567890n
  const large = `{"id":${id},"text":"${'x'.repeat(200 * 1024)}"}`
  const plain = large.replace(`${id}`, '1')
  const rounded = large.replace(`${id}`, '12345678901234567000')
  const reader = createInnerReader()
  const written = [large, plain, plain, plain, large, large].map((text) => writeJson(reader(text)))
  assert.deepEqual(written, [large, plain, plain, plain, large, rounded])
  const calls = [1, 2, 3].map((number) => {
    return { id: `c${number}`, type: 'function', function: { name: 'look', arguments: large } }
  })
  const results = calls.map((call) => ({ role: 'tool', tool_call_id: call.id, content: large }))
  const messages = [user('?'), calling(...calls), ...results]
  const count = ({ body }: { readonly body: Buffer }) =>
    body.toString().split(`{"id":${id},`).length - 1
  const native = { upstreamModel: 'm', stream: false, quirks: DEFAULT_MESSAGES_QUIRKS }
  assert.equal(count(translateChatRequest({ messages }, native)), 2)
  assert.equal(count(translateToContents({ messages }, CONTENTS_OPTIONS)), 4)
})

test('a text with a name of 16 KB is not read: a request may have thousands of them', () => {
  const read = createInnerReader()
  const named = (length: number) => `{"a":"${'v'.repeat(20_000)}","${'k'.repeat(length)}" : 1}`
  assert.deepEqual(Object.keys(read(named(10)) as object), ['a', 'k'.repeat(10)])
  assert.equal(read(named(16_384)), undefined)
})

test('the texts of a request have no more values and names together than a body', () => {
  const read = createInnerReader()
  const named = (from: number, count: number) =>
    JSON.stringify(
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${from + at}`, 0])),
    )
  assert.notEqual(read(named(0, 12_000)), undefined)
  assert.equal(read(named(12_000, 12_000)), undefined)
  assert.notEqual(read(named(0, 12_000)), undefined, 'names that others have')
  assert.equal(read('{"another":0}'), undefined)
  const sealed = sealReasoning({ data: 'kept' })
  assert.deepEqual(openReasoning(sealed, createInnerReader()), { data: 'kept' })
  assert.equal(openReasoning(sealed, read), undefined)

  const readLists = createInnerReader()
  const list = JSON.stringify(Array(90_000).fill(0))
  const areRead = [list, list, list, '{"a":[1,2]}'].map((text) => readLists(text) !== undefined)
  assert.deepEqual(areRead, [true, true, false, true])
})

test('of two members of one name the later one counts', () => {
  for (const text of [
    '{"a":12345678901234567890,"a":1}',
    '{"a":1,"a":12345678901234567891}',
    '{"a":{"constructor":{"b":12345678901234567890}},"a":[]}',
    '{"a":{"0":12345678901234567890},"a":"text"}',
    '{"a":[12345678901234567890],"a":[[2]]}',
  ]) {
    const expected = JSON.stringify(JSON.parse(text)).replace('67000', '67891')
    assert.equal(writeJson(tryParseExact(Buffer.from(text))), expected)
  }
})

test('a byte order mark before a document with a long integer is skipped', () => {
  assert.equal(
    writeJson(tryParseExact(Buffer.from('\uFEFF[12345678901234567890]'))),
    '[12345678901234567890]',
  )
})

test('other documents are read as ever', () => {
  for (const text of [
    '{"a":"12345678901234567890","b":0.12345678901234567890,"c":1e-400}',
    '[12345678901234567.5,1e-1234567890123456,1234567890123456e3]',
    '{12345678901234567890:1}',
    '{"\\u0061":12345678901234567890}',
    '[1,',
    '',
  ]) {
    const plain = (() => {
      try {
        return JSON.stringify(JSON.parse(text))
      } catch {
        return undefined
      }
    })()
    assert.equal(writeJson(tryParseExact(Buffer.from(text))), plain)
  }
  const deep = `${'['.repeat(100_000)}12345678901234567890${']'.repeat(100_000)}`
  assert.doesNotThrow(() => tryParseExact(Buffer.from(deep)))
})
