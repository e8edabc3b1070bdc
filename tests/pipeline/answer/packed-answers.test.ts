/** Compressed answers that no header labels are decompressed, or refused without a charge. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { type LocalServer, startServer } from '../../support/servers/local-server.ts'

const CHAT = '/v1/chat/completions'
const MEGABYTE = 1024 * 1024
const JSON_TYPE = 'application/json'
const EVENTS = 'text/event-stream'
const USAGE = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 }
const STATED = { charged: '1.5', basis: 'usage', review: false }
const DOCUMENT = JSON.stringify({
  choices: [{ index: 0, message: { content: 'hello' }, finish_reason: 'stop' }],
  usage: USAGE,
})
const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`
const STREAM = [
  event({ choices: [{ index: 0, delta: { content: 'hello' } }] }),
  event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
  event({ choices: [], usage: USAGE }),
  'data: [DONE]\n\n',
].join('')

let gateway: TestGateway
let vendor: LocalServer
let script: (response: ServerResponse) => unknown = () => undefined

before(async () => {
  vendor = await startServer((request, response) => {
    request.resume().on('end', () => script(response))
  })
  gateway = await startTestGateway()
  const settings = { base_url: `${vendor.url}/v1`, api_key: 'a-key' }
  const model = (id: string, type: string, units: readonly string[]) => ({
    id,
    type,
    prices: units.map((unit) => ({ unit, per: 1, amount: '0.001' })),
    routes: [{ channel: 'packed', upstream_model: id }],
  })
  await gateway.apply({
    channels: [{ id: 'packed', upstream: 'openai-compatible', settings }],
    models: [
      model('chat', 'chat', ['input_token', 'output_token']),
      model('letters', 'speech', ['character']),
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

function answer(body: string | Buffer, type: string): void {
  script = (response) => {
    response.setHeader('content-type', type)
    response.end(body)
  }
}

async function charge(reply: { headers: Headers }, key: string) {
  const { charged, basis, review } = await gateway.record(reply, key)
  return { charged, basis, review }
}

for (const [name, pack] of [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['zstd', zstdCompressSync],
] as const) {
  test(`an answer in ${name} that is not labelled is decompressed, whole or streamed`, async () => {
    const { key } = await gateway.tenant()
    for (const stream of [false, true]) {
      answer(pack(Buffer.from(stream ? STREAM : DOCUMENT)), stream ? EVENTS : JSON_TYPE)
      const reply = await gateway.post(CHAT, key, chatBody(stream))
      assert.equal(reply.status, 200, reply.text)
      assert.match(reply.text, /hello/)
      assert.deepEqual(await charge(reply, key), STATED)
    }
  })
}

test('an encoding without a label is detected in bytes that arrive one by one', async () => {
  const { key } = await gateway.tenant()
  const packed = gzipSync(STREAM)
  script = async (response) => {
    response.writeHead(200, { 'content-type': EVENTS })
    for (const byte of packed) await new Promise((sent) => response.write(Buffer.of(byte), sent))
    response.end()
  }
  const reply = await gateway.post(CHAT, key, chatBody(true))
  assert.match(reply.text, /hello/)
  assert.deepEqual(await charge(reply, key), STATED)
})

test('an answer whose chunks arrive at once is read to its end, packed or not', async () => {
  const { key } = await gateway.tenant()
  for (const body of [Buffer.from(DOCUMENT), gzipSync(DOCUMENT)]) {
    script = (response) => {
      response.cork()
      for (const byte of body) response.write(Buffer.of(byte))
      response.end()
    }
    const reply = await gateway.post(CHAT, key, chatBody())
    assert.match(reply.text, /hello/)
    assert.deepEqual(await charge(reply, key), STATED)
  }
})

test('a stray control character does not make a stream free', async () => {
  const { key } = await gateway.tenant()
  answer(`: a comment with \u0000 and ü\n\n${STREAM}`, EVENTS)
  const reply = await gateway.post(CHAT, key, chatBody(true))
  assert.match(reply.text, /hello/)
  assert.deepEqual(await charge(reply, key), STATED)
})

test('what is compressed, not labelled and not readable is a 502 that costs nothing', async () => {
  const { key } = await gateway.tenant()
  const nested = gzipSync(gzipSync(DOCUMENT))
  const bomb = gzipSync(Buffer.alloc(200 * MEGABYTE, ' '))
  for (const stream of [false, true]) {
    const packed = Buffer.from(stream ? STREAM : DOCUMENT)
    for (const [name, body] of [
      ['brotli', brotliCompressSync(packed)],
      ['cut off', gzipSync(packed).subarray(0, 30)],
      ['one byte', Buffer.of(0x1f)],
      ['nested', nested],
      ...(stream ? [] : [['too much', bomb] as const]),
    ] as const) {
      answer(body, stream ? EVENTS : JSON_TYPE)
      const reply = await gateway.post(CHAT, key, chatBody(stream))
      assert.equal(reply.status, 502, `${name}: ${reply.text}`)
      assert.equal((await gateway.record(reply, key)).basis, 'none', name)
    }
  }
})

test('an error and a refusal in gzip without a label are read', async () => {
  const { key } = await gateway.tenant()
  script = (response) => {
    response.writeHead(400, { 'content-type': JSON_TYPE })
    response.end(gzipSync(JSON.stringify({ error: { message: 'no such tone', param: 'tone' } })))
  }
  const reply = await gateway.post(CHAT, key, chatBody())
  assert.equal(reply.status, 400)
  assert.match(reply.text, /no such tone/)
})

test('speech in gzip without a label is decompressed; samples that resemble zlib are not', async () => {
  const { key } = await gateway.tenant()
  const order = { model: 'letters', input: 'hello', voice: 'alloy', response_format: 'pcm' }
  const samples = Buffer.concat([Buffer.of(0x78, 0x9c), Buffer.alloc(2000, 1)])
  for (const body of [samples, gzipSync(samples)]) {
    answer(body, 'audio/pcm')
    const response = await gateway.fetch('/v1/audio/speech', {
      method: 'POST',
      key,
      headers: { 'content-type': JSON_TYPE },
      body: JSON.stringify(order),
    })
    assert.ok(Buffer.from(await response.arrayBuffer()).equals(samples))
    assert.equal((await charge(response, key)).charged, '0.005')
  }
})
