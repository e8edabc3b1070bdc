/** Answers in unusual forms are charged as stated. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/in-process.ts'
import { type LocalServer, startServer } from '../support/servers/local-server.ts'

const CHAT = '/v1/chat/completions'
const SPEECH = '/v1/audio/speech'
const IMAGES = '/v1/images/generations'
const MEGABYTE = 1024 * 1024
const USAGE = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 }
const WORTH = '1.5'
const JSON_TYPE = 'application/json'
const EVENTS = 'text/event-stream'

const SIZES = ['1', '3'].map((amount) => {
  return { unit: 'image', per: 1, amount, when: { size: `${amount}024x1024` } }
})

let gateway: TestGateway
let vendor: LocalServer
let script: (response: ServerResponse) => unknown = () => undefined

before(async () => {
  vendor = await startServer((request, response) => {
    request.resume().on('end', () => script(response))
  })
  gateway = await startTestGateway()
  const settings = { base_url: `${vendor.url}/v1`, api_key: 'a-key' }
  const model = (id: string, type: string, units: readonly string[], channel = 'odd') => ({
    id,
    type,
    prices: units.map((unit) => ({ unit, per: 1, amount: '0.001' })),
    routes: [{ channel, upstream_model: id }],
  })
  await gateway.apply({
    channels: [
      { id: 'odd', upstream: 'openai-compatible', settings },
      { id: 'messages', upstream: 'anthropic', settings },
    ],
    models: [
      model('chat', 'chat', ['input_token', 'output_token']),
      model('pictures', 'image', ['input_token', 'image_output_token']),
      model('voice', 'speech', ['input_token', 'output_token']),
      model('claude', 'chat', ['input_token', 'output_token'], 'messages'),
      { ...model('sized', 'image', []), prices: SIZES },
    ],
  })
})
after(async () => {
  await gateway.stop()
  await vendor.stop()
})

const chatBody = (stream = false) => ({
  model: 'chat',
  stream,
  max_tokens: 1000,
  messages: [{ role: 'user', content: 'hi' }],
})
const completion = (more: object = {}) => ({
  choices: [{ index: 0, message: { content: 'hello' }, finish_reason: 'stop' }],
  usage: USAGE,
  ...more,
})
const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`
const text = (content: string) => event({ choices: [{ index: 0, delta: { content } }] })
const END = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
const DONE = 'data: [DONE]\n\n'
const STREAM = text('hello') + END + event({ choices: [], usage: USAGE }) + DONE
const ERROR = { error: { message: 'overloaded', type: 'server_error' } }

function answer(body: string | Buffer, type: string, encoding?: string): void {
  script = (response) => {
    response.setHeader('content-type', type)
    if (encoding) response.setHeader('content-encoding', encoding)
    response.end(body)
  }
}

async function charge(reply: TestAnswer, key: string) {
  const { charged, basis, review } = await gateway.record(reply, key)
  return { charged, basis, review }
}

const STATED = { charged: WORTH, basis: 'usage', review: false }

for (const [encoding, pack] of [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate without a header', deflateRawSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const) {
  test(`an answer in ${encoding} is decompressed, whole or streamed`, async () => {
    const { key } = await gateway.tenant()
    for (const stream of [false, true]) {
      const body = stream ? STREAM : JSON.stringify(completion())
      const [name = ''] = encoding.split(' ')
      answer(pack(Buffer.from(body)), stream ? EVENTS : JSON_TYPE, name)
      const plain = { 'accept-encoding': 'identity' }
      const reply = await gateway.post(CHAT, key, chatBody(stream), plain)
      assert.match(reply.text, /hello/)
      assert.equal(reply.headers.get('content-encoding'), null)
      assert.deepEqual(await charge(reply, key), STATED)
    }
  })
}

test('a broken encoding is an unknown outcome and costs nothing', async () => {
  const { key } = await gateway.tenant()
  answer(gzipSync(JSON.stringify(completion())).subarray(0, 30), JSON_TYPE, 'gzip')
  const reply = await gateway.post(CHAT, key, chatBody())
  assert.equal(reply.status, 502)
  assert.equal((await gateway.record(reply, key)).basis, 'none')
})

for (const encoding of ['gzip', 'x-gzip', 'deflate', 'zstd', 'gzip, deflate']) {
  test(`plain text that is labelled ${encoding} is read as it is`, async () => {
    const { key } = await gateway.tenant()
    for (const stream of [false, true]) {
      answer(stream ? STREAM : JSON.stringify(completion()), stream ? EVENTS : JSON_TYPE, encoding)
      const reply = await gateway.post(CHAT, key, chatBody(stream))
      assert.match(reply.text, /hello/)
      assert.deepEqual(await charge(reply, key), STATED)
    }
  })
}

test('a vendor may send interim responses before its answer', async () => {
  const { key } = await gateway.tenant()
  script = (response) => {
    response.writeContinue()
    response.writeProcessing()
    response.writeContinue()
    response.end(JSON.stringify(completion()))
  }
  assert.deepEqual(await charge(await gateway.post(CHAT, key, chatBody()), key), STATED)
})

test('an encoding is detected in bytes that arrive one by one', async () => {
  const { key } = await gateway.tenant()
  const packed = gzipSync(STREAM)
  script = async (response) => {
    response.writeHead(200, { 'content-type': EVENTS, 'content-encoding': 'gzip' })
    for (const byte of packed) await new Promise((sent) => response.write(Buffer.of(byte), sent))
    response.end()
  }
  const reply = await gateway.post(CHAT, key, chatBody(true))
  assert.match(reply.text, /hello/)
  assert.deepEqual(await charge(reply, key), STATED)
})

test('bodies of no byte, of one, and broken off behind an encoding end the call', async () => {
  const { key } = await gateway.tenant()
  for (const send of [
    (response: ServerResponse) => response.end(),
    (response: ServerResponse) => response.end('{'),
    (response: ServerResponse) => response.write('{', () => response.destroy()),
    (response: ServerResponse) => response.write('{"a', () => response.destroy()),
  ]) {
    script = (response) => {
      response.setHeader('content-type', JSON_TYPE)
      response.setHeader('content-encoding', 'gzip')
      send(response)
    }
    const reply = await gateway.post(CHAT, key, chatBody())
    assert.equal(reply.status, 502)
    assert.equal((await gateway.record(reply, key)).basis, 'none')
  }
})

const long = 'x'.repeat(2 * MEGABYTE)
for (const [name, stream, type, body] of [
  [
    'a document behind a byte order mark',
    false,
    JSON_TYPE,
    `\uFEFF${JSON.stringify(completion())}`,
  ],
  ['a long document instead of a stream', true, JSON_TYPE, JSON.stringify(completion({ long }))],
  ['a stream of long events instead of a document', false, EVENTS, text(long) + STREAM],
  [
    'usage behind a long id',
    true,
    EVENTS,
    STREAM.replace(/data: (?=.*usage)/, `id: ${long}\ndata: `),
  ],
  [
    'usage in an event that is too long to be held',
    true,
    EVENTS,
    STREAM.replace('"usage"', `"long":"${long.repeat(5)}","usage"`),
  ],
  [
    'the usage of an answer in one event that is too long to be held',
    true,
    EVENTS,
    event(completion({ choices: [{ index: 0, delta: { content: long.repeat(5) } }] })) + DONE,
  ],
  ['usage in a long event', true, EVENTS, STREAM.replace('"usage"', `"long":"${long}","usage"`)],
] as const) {
  test(`${name} is charged as stated`, async () => {
    const { key } = await gateway.tenant()
    answer(body, type)
    assert.deepEqual(await charge(await gateway.post(CHAT, key, chatBody(stream)), key), STATED)
  })
}

test('output stated beside an error is charged, and the caller gets the error', async () => {
  const { key } = await gateway.tenant()
  answer(JSON.stringify({ ...ERROR, usage: USAGE }), JSON_TYPE)
  const once = { 'idempotency-key': 'an-error' }
  const whole = await gateway.post(CHAT, key, chatBody(), once)
  assert.equal(whole.status, 502)
  assert.equal(whole.headers.get('x-should-retry'), 'false')
  assert.deepEqual(await charge(whole, key), STATED)
  assert.equal((await gateway.post(CHAT, key, chatBody(), once)).status, 409)
  answer(event({ choices: [], usage: USAGE }) + event(ERROR), EVENTS)
  const streamed = await gateway.post(CHAT, key, chatBody(true))
  assert.match(streamed.text, /overloaded/)
  assert.deepEqual(await charge(streamed, key), STATED)
})

test('a background response that failed at once is repeated as it was shown', async () => {
  const { key } = await gateway.tenant()
  const error = { code: 'server_error', message: 'no disk at https://10.1.2.3:8443/var/x' }
  const content = [{ type: 'output_text', text: 'hello' }]
  const output = [{ type: 'message', role: 'assistant', content }]
  const failed = { id: 'resp_1', object: 'response', status: 'failed', error, output }
  answer(JSON.stringify(failed), JSON_TYPE)
  const body = { model: 'chat', input: 'hi', max_output_tokens: 9, background: true }
  const ask = () => gateway.post('/v1/responses', key, body, { 'idempotency-key': 'failed' })
  const [first, again] = [await ask(), await ask()]
  assert.equal(first.json.error.code, 'server_error', first.text)
  assert.doesNotMatch(first.text, /10\.1\.2\.3/)
  assert.ok(again.headers.get('idempotent-replayed'))
  assert.equal(again.text, first.text)
})

test('an error with stated input but no output is a refusal, and free', async () => {
  const { key } = await gateway.tenant()
  answer(JSON.stringify({ ...ERROR, usage: { prompt_tokens: 9, completion_tokens: 0 } }), JSON_TYPE)
  const reply = await gateway.post(CHAT, key, chatBody())
  assert.equal(reply.status, 502)
  assert.equal((await gateway.record(reply, key)).basis, 'none')
})

for (const [name, type, body, basis] of [
  ['in the first event', EVENTS, `<delta>${STREAM}`, 'usage'],
  ['in a later event', EVENTS, `${text('hello')}<delta>${STREAM}`, 'usage'],
  ['in a whole answer', JSON_TYPE, JSON.stringify(completion({ deep: '<deep>' })), 'usage'],
  ['without usage', EVENTS, `<delta>${END}${DONE}`, 'estimate'],
  ['in a stream that stops', EVENTS, '<delta>', 'partial'],
] as const) {
  test(`JSON that is nested too deeply to serialise is charged: ${name}`, async () => {
    const { key } = await gateway.tenant()
    // Members whose names are numbers are written by recursion.
    const deep = `${'{"0":'.repeat(50_000)}1${'}'.repeat(50_000)}`
    const delta = event({ choices: [{ delta: { content: 'a', deep: '<deep>' } }] })
    answer(body.replace('<delta>', delta).replaceAll('"<deep>"', deep), type)
    for (const stream of [true, false]) {
      const reply = await gateway.post(CHAT, key, chatBody(stream))
      const record = await gateway.record(reply, key)
      if (basis === 'usage') assert.equal(record.charged, WORTH)
      assert.equal(record.basis, basis === 'partial' && !stream ? 'none' : basis)
      assert.ok(Number(record.charged) <= Number(record.held) || basis === 'usage')
    }
  })
}

const tokens = { input_tokens: 1000, output_tokens: 500 }
const image = { type: 'image_generation.completed', b64_json: 'AAAA' }
const delta = { type: 'speech.audio.delta', audio: 'AAAA' }
const say = { model: 'voice', input: 'hello', voice: 'alloy', stream_format: 'sse' }
const draw = { model: 'pictures', prompt: 'a river', stream: true }
for (const [name, path, body, events] of [
  ['images: usage behind the last image', IMAGES, draw, [image, { type: 'x', usage: tokens }]],
  ['images: usage before it', IMAGES, draw, [{ type: 'x', usage: tokens }, image]],
  [
    'speech: usage behind the end',
    SPEECH,
    say,
    [delta, { type: 'speech.audio.done' }, { usage: tokens }],
  ],
] as const) {
  test(`${name} is charged as stated`, async () => {
    const { key } = await gateway.tenant()
    answer(events.map(event).join(''), EVENTS)
    assert.deepEqual(await charge(await gateway.post(path, key, body), key), STATED)
  })
}

test('images of several sizes are charged as the hold, and reviewed', async () => {
  const { key } = await gateway.tenant()
  const images = (sizes: readonly string[]) => sizes.map((size) => ({ url: 'https://a/b', size }))
  const order = { model: 'sized', prompt: 'a river', n: 2 }
  for (const [sizes, charged, review] of [
    [['1024x1024', '1024x1024'], '2', false],
    [['1024x1024', '3024x1024'], '6', true],
  ] as const) {
    answer(JSON.stringify({ created: 1, data: images(sizes) }), JSON_TYPE)
    const found = await charge(await gateway.post(IMAGES, key, order), key)
    assert.deepEqual(found, { charged, basis: 'usage', review })
  }
})

test('speech: events may be named beside their data', async () => {
  const { key } = await gateway.tenant()
  const named = (name: string, data: object) => `event: ${name}\n${event(data)}`
  const events = [named('speech.audio.delta', {}), named('speech.audio.done', { usage: tokens })]
  answer(events.join(''), EVENTS)
  assert.deepEqual(await charge(await gateway.post(SPEECH, key, say), key), STATED)
})

const MESSAGES = '/v1/messages'
const RESPONSES = '/v1/responses'
const message = {
  type: 'message',
  role: 'assistant',
  stop_reason: 'end_turn',
  usage: tokens,
  content: [{ type: 'text', text: 'hello' }],
}
const response = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  output: [],
  usage: tokens,
}
const completed = (more: object) => event({ type: 'response.completed', ...more })
const started = event({ type: 'message_start', message: { ...message, content: [] } })
const ended =
  event({ type: 'message_delta', delta: {}, usage: tokens }) + event({ type: 'message_stop' })
const unstated = { response: { ...response, usage: null } }
for (const [name, path, stream, type, body] of [
  ['messages: a document instead of a stream', MESSAGES, true, JSON_TYPE, JSON.stringify(message)],
  ['messages: a stream instead of a document', MESSAGES, false, EVENTS, started + ended],
  [
    'responses: a document instead of a stream',
    RESPONSES,
    true,
    JSON_TYPE,
    JSON.stringify(response),
  ],
  [
    'responses: usage beside the response',
    RESPONSES,
    true,
    EVENTS,
    completed({ ...unstated, usage: tokens }),
  ],
  [
    'responses: usage behind the end',
    RESPONSES,
    true,
    EVENTS,
    completed(unstated) + completed({ response }),
  ],
] as const) {
  test(`${name} is charged as stated`, async () => {
    const { key } = await gateway.tenant()
    answer(body, type)
    const model = path === MESSAGES ? 'claude' : 'chat'
    const limits = { max_tokens: 1000, max_output_tokens: 1000 }
    const order = { ...chatBody(stream), ...limits, input: 'hi', model }
    const headers = { 'anthropic-version': '2023-06-01' }
    assert.deepEqual(await charge(await gateway.post(path, key, order, headers), key), STATED)
  })
}
