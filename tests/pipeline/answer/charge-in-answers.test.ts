/** Answers state their charge as their record does, or not at all. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { startTestGateway, type TestAnswer, type TestGateway } from '../../support/in-process.ts'
import { type LocalServer, startServer } from '../../support/servers/local-server.ts'

const CHAT = '/v1/chat/completions'
const MESSAGES = '/v1/messages'
const RESPONSES = '/v1/responses'
const EVENTS = 'text/event-stream'
const VERSION = { 'anthropic-version': '2023-06-01' }
const ASKED = { ...VERSION, 'x-tributary-cost': 'true' }

let gateway: TestGateway
let vendor: LocalServer
let script: (response: ServerResponse, path: string) => unknown = () => undefined

before(async () => {
  vendor = await startServer((request, response) => {
    request.resume().on('end', () => script(response, request.url ?? ''))
  })
  gateway = await startTestGateway()
  const settings = { base_url: `${vendor.url}/v1`, api_key: 'a-key' }
  const model = (id: string, channel: string) => ({
    id,
    type: 'chat',
    prices: ['input_token', 'output_token'].map((unit) => ({ unit, per: 1e6, amount: '0.546875' })),
    routes: [{ channel, upstream_model: id }],
  })
  await gateway.apply({
    channels: [
      { id: 'chat', upstream: 'openai-compatible', settings },
      { id: 'messages', upstream: 'anthropic', settings },
      {
        id: 'responses',
        upstream: 'openai-compatible',
        settings: { ...settings, responses: 'pass' },
      },
    ],
    models: [model('chat', 'chat'), model('claude', 'messages'), model('native', 'responses')],
  })
})
after(async () => {
  await gateway.stop()
  await vendor.stop()
})

const USAGE = { prompt_tokens: 100, completion_tokens: 7, total_tokens: 107 }
/** 107 tokens at 0.546875 per million, each line rounded up to a billionth. */
const CHARGED = '0.000058517'
const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`
const chunk = (delta: object | undefined, reason: string | null, more: object = {}) =>
  event({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: delta ? [{ index: 0, delta, finish_reason: reason }] : [],
    ...more,
  })
const TEXT = chunk({ role: 'assistant', content: 'hello' }, null)
const END = chunk({}, 'stop')
const LAST = chunk(undefined, null, { usage: USAGE })
const DONE = 'data: [DONE]\n\n'
const WHOLE = `{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},
  "finish_reason":"stop"}], "usage": {"prompt_tokens": 100, "completion_tokens":7,
  "total_tokens":107 }, "id":"c", "object":"chat.completion","created":1,"model":"m"}`

function answer(body: string | Buffer, type = 'application/json', headers: object = {}): void {
  script = (response) => {
    response.writeHead(200, { 'content-type': type, ...headers })
    response.end(body)
  }
}

/** Sends the pieces one after the other. */
function drip(pieces: readonly string[], end: (response: ServerResponse) => void): void {
  script = async (response) => {
    response.writeHead(200, { 'content-type': EVENTS })
    for (const piece of pieces) {
      response.write(piece)
      await new Promise((resolve) => setImmediate(resolve))
    }
    end(response)
  }
}

const chat = (more: object = {}) => ({
  model: 'chat',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'hi' }],
  ...more,
})
const streamed = { stream: true, stream_options: { include_usage: true } }

/** The figures of all events that state one, as they are printed. */
function costsIn({ text }: TestAnswer): string[] {
  return [...text.matchAll(/"cost":\s*([\d.]+)/g)].map(([, cost = '']) => cost)
}

test('a whole answer has the charge in a header, and in its usage only when asked', async () => {
  const { key } = await gateway.tenant()
  answer(WHOLE)
  const plain = await gateway.post(CHAT, key, chat())
  assert.equal(plain.text, WHOLE)
  assert.equal(plain.headers.get('x-tributary-charge'), `${CHARGED} CNY`)
  assert.equal(plain.headers.get('x-tributary-charge-basis'), null)
  assert.equal((await gateway.record(plain, key)).charged, CHARGED)
  const asked = await gateway.post(CHAT, key, chat(), ASKED)
  assert.equal(asked.text, WHOLE.replace(':107 }', `:107,"cost":${CHARGED} }`))
  assert.equal(asked.headers.get('content-length'), String(Buffer.byteLength(asked.text)))
  assert.equal((await gateway.record(asked, key)).charged, CHARGED)
})

test('an answer without usage is charged by an estimate, and says so', async () => {
  const { key } = await gateway.tenant()
  answer(WHOLE.replace(/"usage": [^}]*\}/, '"usage":{}'))
  const asked = await gateway.post(CHAT, key, chat(), ASKED)
  const { charged, basis } = await gateway.record(asked, key)
  assert.equal(basis, 'estimate')
  assert.equal(asked.headers.get('x-tributary-charge-basis'), 'estimate')
  assert.deepEqual(asked.json.usage, { cost: Number(charged), cost_basis: 'estimate' })
})

test('usage that goes beyond what is possible is reviewed, and says so', async () => {
  const { key } = await gateway.tenant()
  answer(WHOLE.replace('"completion_tokens":7', '"completion_tokens":7000000'))
  const asked = await gateway.post(CHAT, key, chat(), ASKED)
  const { review, charged } = await gateway.record(asked, key)
  assert.equal(review, true)
  assert.equal(asked.headers.get('x-tributary-charge-basis'), 'review')
  assert.equal(asked.json.usage.cost, Number(charged))
})

for (const [title, pieces, costs] of [
  ['in one piece', [TEXT + END + LAST + DONE], 1],
  ['cut in its usage', [TEXT + END + LAST.slice(0, 30), LAST.slice(30) + DONE], 1],
  ['with usage before its end', [TEXT, LAST, END, DONE], 1],
  ['with output behind its usage', [LAST, TEXT, END, DONE], 0],
  ['with usage twice, and no reason', [TEXT, LAST.replace(':7', ':6'), LAST, DONE], 1],
  ['with usage behind its end', [TEXT, END, DONE, LAST], 0],
  ['without usage', [TEXT, END, DONE], 0],
  ['with the vendor’s own cost', [TEXT, END, LAST.replace('}}', ',"cost":0.5}}'), DONE], 1],
] as const) {
  test(`a stream ${title} states the charge of its record`, async () => {
    const { key } = await gateway.tenant()
    drip(pieces, (response) => response.end())
    const asked = await gateway.post(CHAT, key, chat(streamed), ASKED)
    const { charged } = await gateway.record(asked, key)
    assert.deepEqual(costsIn(asked), Array(costs).fill(charged))
    assert.equal(asked.headers.get('x-tributary-charge'), null)
    const plain = await gateway.post(CHAT, key, chat(streamed))
    const unstated = asked.text.replaceAll(/,"cost":[\d.]+/g, '')
    assert.equal(unstated, plain.text.replaceAll(/,"cost":0\.5/g, ''))
  })
}

test('a compressed stream states its charge', async () => {
  const { key } = await gateway.tenant()
  answer(gzipSync(TEXT + END + LAST + DONE), EVENTS, { 'content-encoding': 'gzip' })
  const asked = await gateway.post(CHAT, key, chat(streamed), ASKED)
  assert.deepEqual(costsIn(asked), [CHARGED])
})

test('a stream that is cut behind its usage states the charge of its record', async () => {
  const { key } = await gateway.tenant()
  drip([TEXT, END, LAST], (response) => response.destroy())
  const asked = await gateway.post(CHAT, key, chat(streamed), ASKED)
  const { charged } = await gateway.record(asked, key)
  assert.deepEqual(costsIn(asked), [charged])
})

test('a stream that stays open behind its end is ended all the same', async () => {
  const { key } = await gateway.tenant()
  drip(
    [chunk({ role: 'assistant', content: 'x' }, 'stop', { usage: USAGE }), DONE],
    () => undefined,
  )
  const asked = await gateway.post(CHAT, key, chat(streamed), ASKED)
  assert.deepEqual(costsIn(asked), [CHARGED])
})

test('who asks for the charge of a stream gets its usage, unless it refuses it', async () => {
  const { key } = await gateway.tenant()
  answer(TEXT + END + LAST + DONE, EVENTS)
  const asked = await gateway.post(CHAT, key, chat({ stream: true }), ASKED)
  assert.deepEqual(costsIn(asked), [CHARGED])
  const refused = { stream: true, stream_options: { include_usage: false } }
  const without = await gateway.post(CHAT, key, chat(refused), ASKED)
  assert.equal(without.text, TEXT + END + DONE)
})

const MESSAGE_USAGE = { input_tokens: 100, output_tokens: 7 }
const MESSAGE_END = {
  type: 'message_delta',
  delta: { stop_reason: 'end_turn' },
  usage: MESSAGE_USAGE,
}
const MESSAGE = { type: 'message', role: 'assistant', content: [], usage: MESSAGE_USAGE }
const named = (data: { type: string }) => `event: ${data.type}\n${event(data)}`
const MESSAGE_STREAM = [
  {
    type: 'message_start',
    message: { id: 'm', ...MESSAGE, usage: { input_tokens: 100, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } },
  { type: 'content_block_stop', index: 0 },
  MESSAGE_END,
  { type: 'message_stop' },
].map(named)
const RESPONSE_USAGE = { input_tokens: 100, output_tokens: 7, total_tokens: 107 }
const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'native',
  output: [
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'hello', annotations: [] }],
    },
  ],
  usage: RESPONSE_USAGE,
}
const RESPONSE_STREAM = [
  {
    type: 'response.created',
    response: { ...RESPONSE, status: 'in_progress', output: [], usage: null },
  },
  { type: 'response.completed', response: RESPONSE },
].map(named)

/** Any vendor of the test answers in its own dialect. */
function answerByPath(stream: boolean): void {
  script = (response, path) => {
    const [whole, events] = path.endsWith('/messages')
      ? [
          JSON.stringify({
            id: 'm',
            ...MESSAGE,
            content: [{ type: 'text', text: 'hi' }],
            stop_reason: 'end_turn',
          }),
          MESSAGE_STREAM.join(''),
        ]
      : path.endsWith('/responses')
        ? [JSON.stringify(RESPONSE), RESPONSE_STREAM.join('')]
        : [WHOLE, TEXT + END + LAST + DONE]
    response.writeHead(200, { 'content-type': stream ? EVENTS : 'application/json' })
    response.end(stream ? events : whole)
  }
}

for (const model of ['chat', 'claude', 'native']) {
  for (const [path, body] of [
    [CHAT, { messages: [{ role: 'user', content: 'hi' }], max_tokens: 100 }],
    [MESSAGES, { messages: [{ role: 'user', content: 'hi' }], max_tokens: 100 }],
    [RESPONSES, { input: 'hi', max_output_tokens: 100 }],
  ] as const) {
    if (model === 'native' && path !== RESPONSES) continue
    test(`${path} of a model ${model} states its charge, whole and streamed`, async () => {
      const { key } = await gateway.tenant()
      for (const stream of [false, true]) {
        answerByPath(stream)
        const asked = await gateway.post(path, key, { model, ...body, stream }, ASKED)
        const plain = await gateway.post(path, key, { model, ...body, stream }, VERSION)
        assert.equal((await gateway.record(asked, key)).charged, CHARGED, asked.text)
        assert.deepEqual(costsIn(asked), [CHARGED], asked.text)
        assert.deepEqual(costsIn(plain), [])
        if (!stream) assert.equal(asked.json.usage.cost, Number(CHARGED))
      }
    })
  }
}

test('a repetition has the charge of the first answer in its body, and none of its own', async () => {
  const { key } = await gateway.tenant()
  answer(WHOLE)
  const headers = { ...ASKED, 'idempotency-key': 'once' }
  const first = await gateway.post(CHAT, key, chat(), headers)
  const again = await gateway.post(CHAT, key, chat(), headers)
  assert.ok(again.headers.get('idempotent-replayed'))
  assert.equal(again.text, first.text)
  assert.deepEqual(costsIn(again), [CHARGED])
  assert.equal(again.headers.get('x-tributary-charge'), null)
  // Its row may be deleted later.
  await gateway.sql`
    update idempotency set created_at = now() - interval '24 hours' where key = 'once'`
  const next = await gateway.post(CHAT, key, chat(), headers)
  assert.deepEqual([next.status, costsIn(next)], [200, [CHARGED]], next.text)
  assert.equal(next.headers.get('idempotent-replayed'), null)
  // As a sweep leaves it, whose process may yet turn out to live.
  await gateway.sql`update idempotency set state = 'lost' where key = 'once'`
  const lost = await gateway.post(CHAT, key, chat(), headers)
  assert.deepEqual([lost.status, lost.headers.get('retry-after')], [409, '30'])
  assert.match(lost.text, /was lost, and nothing was charged: this Idempotency-Key is free again/)
})

test('what is refused or failed has no charge', async () => {
  const { key } = await gateway.tenant()
  script = (response) => response.writeHead(500).end('{}')
  const failed = await gateway.post(CHAT, key, chat(), ASKED)
  assert.equal(failed.status, 502)
  assert.equal(failed.headers.get('x-tributary-charge'), null)
})

test('an answer whose settlement is late states no charge, nor the vendor’s', async () => {
  const { key, accountId } = await gateway.tenant()
  const arrived = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const unlock = Promise.withResolvers<void>()
  script = async (response) => {
    arrived.resolve()
    await locked.promise
    response.setHeader('content-type', 'application/json')
    response.end(WHOLE.replace('107 }', '107,"cost":0.5}'))
  }
  const asking = gateway.post(CHAT, key, chat(), ASKED)
  await arrived.promise
  const locking = gateway.sql.begin(async (sql) => {
    await sql`select from balance where account_id = ${accountId} for update`
    locked.resolve()
    await unlock.promise
  })
  const late = await asking
  unlock.resolve()
  await locking
  assert.equal(late.status, 200)
  assert.equal(late.headers.get('x-tributary-charge'), null)
  assert.deepEqual(late.json.usage, USAGE)
  assert.equal((await gateway.record(late, key)).charged, CHARGED)
})

test('the SDKs of OpenAI and Anthropic read the charge beside the usage', async () => {
  const { key: apiKey } = await gateway.tenant()
  const shared = { apiKey, maxRetries: 0, defaultHeaders: { 'x-tributary-cost': 'true' } }
  const openai = new OpenAI({ ...shared, baseURL: `${gateway.url}/v1` })
  const anthropic = new Anthropic({ ...shared, baseURL: gateway.url })
  const messages = [{ role: 'user' as const, content: 'hi' }]
  const request = { model: 'chat', max_tokens: 16, messages }
  const stated: unknown[] = []
  const note = (usage: object | null | undefined) =>
    stated.push(usage && 'cost' in usage ? usage.cost : usage)
  answer(WHOLE)
  note((await openai.chat.completions.create(request)).usage)
  note((await anthropic.messages.create(request)).usage)
  answer(TEXT + END + LAST + DONE, EVENTS)
  const chat = openai.chat.completions.stream({
    ...request,
    stream_options: { include_usage: true },
  })
  note((await chat.finalChatCompletion()).usage)
  const streamed = anthropic.messages.stream(request)
  streamed.on('streamEvent', (one) => {
    if (one.type === 'message_delta') note(one.usage)
  })
  const [content] = (await streamed.finalMessage()).content
  assert.equal(content?.type === 'text' && content.text, 'hello')
  assert.deepEqual(stated, Array(4).fill(Number(CHARGED)))
})
