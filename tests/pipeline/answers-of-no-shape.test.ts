/** Upstream answers that are not what they claim, and refusals for quota: 502 or 429, no charge. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../support/in-process.ts'
import { type LocalServer, startServer } from '../support/servers/local-server.ts'
import { within } from '../support/until.ts'

let gateway: TestGateway
let vendor: LocalServer
let script: (response: ServerResponse) => unknown = () => undefined

before(async () => {
  vendor = await startServer((request, response) => {
    request.resume().on('end', () => script(response))
  })
  gateway = await startTestGateway()
  const base = vendor.url
  const settings = { base_url: base, api_key: 'a-key' }
  const model = (id: string, type: string, channel: string, unit: string) => ({
    id,
    type,
    prices: [{ unit, per: 1, amount: '0.001' }],
    routes: [{ channel, upstream_model: id }],
  })
  await gateway.apply({
    channels: [
      { id: 'odd', upstream: 'openai-compatible', settings },
      {
        id: 'translating',
        upstream: 'openai-compatible',
        settings: { ...settings, responses: 'translate' },
      },
      { id: 'messages', upstream: 'anthropic', settings },
      { id: 'speaking', upstream: 'doubao-speech', settings },
    ],
    models: [
      model('chat', 'chat', 'odd', 'output_token'),
      model('faulty', 'chat', 'odd', 'output_token'),
      model('translated', 'chat', 'translating', 'output_token'),
      model('claude', 'chat', 'messages', 'output_token'),
      model('vectors', 'embedding', 'odd', 'input_token'),
      model('judge', 'moderation', 'odd', 'call'),
      model('pictures', 'image', 'odd', 'image'),
      model('voice', 'speech', 'speaking', 'character'),
    ],
  })
})
after(async () => {
  await gateway.stop()
  await vendor.stop()
})

const EVENT_STREAM = 'text/event-stream'
const MESSAGES = [{ role: 'user', content: 'hi' }]
const LIMITED = { messages: MESSAGES, max_tokens: 100 }
const CALLS: Readonly<Record<string, readonly [path: string, body: object]>> = {
  chat: ['/v1/chat/completions', { model: 'chat', ...LIMITED }],
  'messages over chat': ['/v1/messages', { model: 'chat', ...LIMITED }],
  'responses over chat': ['/v1/responses', { model: 'translated', input: 'hi' }],
  messages: ['/v1/messages', { model: 'claude', ...LIMITED }],
  'chat over messages': ['/v1/chat/completions', { model: 'claude', ...LIMITED }],
  'responses over messages': ['/v1/responses', { model: 'claude', input: 'hi' }],
  embeddings: ['/v1/embeddings', { model: 'vectors', input: 'hi' }],
  moderations: ['/v1/moderations', { model: 'judge', input: 'hi' }],
  images: ['/v1/images/generations', { model: 'pictures', prompt: 'hi' }],
}

const SHAPELESS: readonly unknown[] = [
  {},
  [],
  null,
  'a text',
  { choices: [] },
  { choices: 'none' },
  { choices: [{}] },
  { choices: [{ message: 'a text' }] },
  { choices: [{ message: { content: 7 } }] },
  { content: [] },
  { type: 'message', content: ['a text'] },
  { object: 'list', data: [] },
  { data: [{}] },
  { results: [] },
  { results: ['none'] },
  { ok: true, result: { text: 'a text' } },
]

const send = (body: string, type: string, status = 200, headers = {}) => {
  script = (response) => response.writeHead(status, { 'content-type': type, ...headers }).end(body)
}

const post = (path: string, key: string, body: object) =>
  gateway.post(path, key, body, { 'vendor-version': '2023-06-01' })

for (const [name, [path, body]] of Object.entries(CALLS)) {
  test(`502 for answers of no shape under 200: ${name}`, async () => {
    const { key, accountId } = await gateway.tenant()
    const before = await gateway.balance(accountId)
    const pages = SHAPELESS.map((one) => [JSON.stringify(one), 'application/json'] as const)
    for (const [page, type] of [...pages, ['<html>Hello</html>', 'text/html'], ['', 'text/html']]) {
      // An image without content may be one that was made: it is not judged here.
      if (name === 'images' && page === '{"data":[{}]}') continue
      send(page ?? '', type ?? '')
      const answer = await post(path, key, body)
      assert.equal(answer.status, 502, `${page}: ${answer.text}`)
      assert.match(answer.text, /upstream provider error/)
    }
    assert.deepEqual(await gateway.balance(accountId), before)
  })
}

const TEXT = Object.entries({
  ...CALLS,
  responses: ['/v1/responses', { model: 'chat', input: 'hi' }],
})
  .filter(([name]) => /chat|messages|responses/.test(name))
  .map(([name, [path, body]]) => [name, path as string, body as object] as const)

for (const [name, path, body] of TEXT) {
  test(`502 for a page in place of a stream, of which nothing is passed on: ${name}`, async () => {
    const { key, accountId } = await gateway.tenant()
    const before = await gateway.balance(accountId)
    for (const page of ['', '<html>Hello</html>', '<html>\n\n<p>Hello</p>\n\n</html>']) {
      for (const type of ['text/html', 'text/event-stream']) {
        send(page, type)
        const answer = await post(path, key, { ...body, stream: true })
        assert.equal(answer.status, 502, `${page}: ${answer.text}`)
        assert.doesNotMatch(answer.text, /Hello/)
      }
    }
    assert.deepEqual(await gateway.balance(accountId), before)
  })
}

/** With usage: what states it is still no answer. */
const WRONG_DOCUMENTS = [
  { choices: null },
  { choices: [] },
  { choices: [{ index: 0, finish_reason: 'stop' }] },
  { choices: [{ index: 0, message: { content: { text: 'x' } }, finish_reason: 'stop' }] },
  { choices: [{ index: 0, message: { tool_calls: [{ id: 'x', type: 'function' }] } }] },
  { choices: [{ index: 0, message: { tool_calls: { id: 'x' } } }] },
  { type: 'message', role: 'assistant', content: [{ type: 'text' }] },
  { type: 'message', role: 'assistant', content: [{ type: 'tool_use', id: 'x', input: {} }] },
]

for (const [name, path, body] of TEXT) {
  test(`502 for a wrong document, whether or not a stream is requested: ${name}`, async () => {
    const { key, accountId } = await gateway.tenant()
    const before = await gateway.balance(accountId)
    const usage = { prompt_tokens: 5, completion_tokens: 5, input_tokens: 5, output_tokens: 5 }
    for (const document of WRONG_DOCUMENTS) {
      for (const stream of [true, false]) {
        send(JSON.stringify({ ...document, usage }), 'application/json')
        const answer = await post(path, key, { ...body, stream })
        assert.equal(answer.status, 502, `${JSON.stringify(document)}: ${answer.text}`)
      }
    }
    assert.deepEqual(await gateway.balance(accountId), before)
  })
}

/** Of the other dialect, or nothing but pings. */
const WRONG_STREAMS: readonly (readonly object[])[] = [
  [{ type: 'ping' }],
  [{ type: 'message_stop' }],
  [
    { type: 'message_start', message: {} },
    { type: 'message_delta', usage: { output_tokens: 5 } },
  ],
  [{ choices: [{ index: 0, delta: { content: 'x' }, finish_reason: 'stop' }] }],
]

for (const [name, path, body] of TEXT.filter(([name]) => name !== 'responses')) {
  test(`502 for events of another dialect: ${name}`, async () => {
    const { key } = await gateway.tenant()
    const isChat = !/^messages$|over messages/.test(name)
    const streams = WRONG_STREAMS.filter((_, at) => at < 2 || (at === 2) === isChat)
    for (const events of streams) {
      for (const stream of [true, false]) {
        send(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''), EVENT_STREAM)
        const answer = await post(path, key, { ...body, stream })
        assert.equal(answer.status, 502, `${JSON.stringify(events)}: ${answer.text}`)
      }
    }
  })
}

test('502 for an error after output that is not delivered, which is charged', async () => {
  const { key, accountId } = await gateway.tenant()
  const before = await gateway.balance(accountId)
  const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
  const events = [
    { type: 'message_start', message: { usage: { input_tokens: 5, output_tokens: 2 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'part' } },
    { type: 'error', error: { type: 'overloaded_error', message: 'busy' } },
  ]
  send(events.map(event).join(''), 'text/event-stream')
  for (const name of ['chat over messages', 'responses over messages']) {
    const [path, body] = CALLS[name] ?? ['', {}]
    const answer = await post(path, key, body)
    assert.equal(answer.status, 502, answer.text)
  }
  const now = await gateway.balance(accountId)
  // One token each: the count at the start of a message is not its last.
  assert.equal(before.available - now.available, 2_000_000n)
  assert.equal(now.held, 0n)
})

for (const name of ['chat', 'messages over chat', 'responses over chat'] as const) {
  test(`a stream without a choice is no answer: ${name}`, async () => {
    const { key } = await gateway.tenant()
    const [path, body] = CALLS[name] ?? ['', {}]
    for (const events of ['data: {"ok":true}\n\ndata: [DONE]\n\n', 'data: [DONE]\n\n', '{}']) {
      send(events, 'text/event-stream')
      const answer = await post(path, key, { ...body, stream: true })
      assert.equal(answer.status, 502, `${events}: ${answer.text}`)
    }
  })
}

for (const [name, refusal] of [
  ['quota', 'Quota exceeded for this account'],
  ['balance', 'Your credit balance is too low to access the API'],
  ['concurrency', 'quota exceeded for types: concurrency'],
  ['rate', 'Too many requests, please slow down'],
] as const) {
  test(`a vendor’s refusal for its ${name} under 400 is not the caller’s fault`, async () => {
    const { key } = await gateway.tenant()
    const error = { message: refusal, type: 'invalid_request_error', code: 'invalid_parameter' }
    const bodies = [{ type: 'error', error }, { header: { code: 45000000, message: refusal } }]
    const speech = '/v1/audio/speech/unidirectional?model=voice'
    const text = { req_params: { text: 'hi', speaker: 'x' } }
    const calls = [...Object.values(CALLS), [speech, text] as const]
    for (const [path, body] of calls) {
      const isSpeech = path === speech
      send(JSON.stringify(bodies[isSpeech ? 1 : 0]), 'application/json', 400)
      const answer = await post(path, key, body)
      assert.equal(answer.status, 502, `${path}: ${answer.text}`)
      assert.doesNotMatch(answer.text, new RegExp(refusal))
    }
  })
}

test('words of the request do not make a refusal the channel’s', async () => {
  const { key } = await gateway.tenant()
  const error = { message: "Invalid value: 'Quota exceeded'", type: 'invalid_request_error' }
  send(JSON.stringify({ error }), 'application/json', 400)
  const body = { ...CALLS.chat?.[1], stop: ['Quota exceeded'] }
  const answer = await gateway.post('/v1/chat/completions', key, body)
  assert.equal(answer.status, 400, answer.text)
})

test('speech: an error of any form before the stream is an error of this API', async () => {
  const { key } = await gateway.tenant()
  const path = '/v1/audio/speech/unidirectional?model=voice'
  const body = { req_params: { text: 'hi', speaker: 'x' } }
  for (const [page, status, expected] of [
    [{ header: { code: 45000001, message: 'invalid argument' } }, 400, 400],
    [{ code: 45000001, message: 'speaker x not found' }, 200, 400],
    [{ code: 45000000, message: 'quota exceeded for types: concurrency' }, 200, 502],
    [{ header: { code: 45000010, message: 'Invalid X-Api-Key' } }, 401, 502],
    [{ code: 55000000, message: 'oops' }, 200, 502],
  ] as const) {
    send(JSON.stringify(page), 'application/json', status)
    const answer = await post(path, key, body)
    assert.equal(answer.status, expected, answer.text)
    assert.deepEqual(Object.keys(answer.json).sort(), ['error', 'type'])
    assert.equal(typeof answer.json.error, 'string')
  }
})

test('Retry-After is passed on: seconds, milliseconds and dates', async () => {
  const { key } = await gateway.tenant()
  const error = JSON.stringify({ error: { message: 'slow down', type: 'rate_limit' } })
  for (const [headers, expected] of [
    [{ 'retry-after': '7' }, '7'],
    [{ 'retry-after-ms': '2500', 'retry-after': '9' }, '3'],
    [{ 'retry-after': '99999999' }, '86400'],
    [
      {
        date: 'Sun, 22 Nov 2026 10:00:00 GMT',
        'retry-after': 'Sun, 22 Nov 2026 10:00:30 GMT',
      },
      '30',
    ],
  ] as const) {
    for (const status of [429, 503]) {
      send(error, 'application/json', status, headers)
      const answer = await gateway.post('/v1/chat/completions', key, CALLS.chat?.[1])
      assert.equal(answer.status, status === 429 ? 429 : 502, answer.text)
      assert.equal(answer.headers.get('retry-after'), expected)
    }
  }
})

test('a fault between an answer and its price closes the hold, for review', async () => {
  // No file may have such a price: what divides by it throws once a search is stated.
  const prices = [
    { unit: 'output_token', per: 1, amount: '0.001' },
    { unit: 'web_search_call', per: 0, amount: '0.001' },
  ]
  await gateway.sql`
    insert into price (model_id, currency, prices, effective_from, source)
    values ('faulty', 'CNY', ${gateway.sql.json(prices)}, now(), 'test')`
  await gateway.sql`update catalog_revision set revision = revision + 1`
  await gateway.gateway.refreshCatalog()
  const usage = { prompt_tokens: 5, completion_tokens: 5 }
  const stated = { ...usage, server_tool_use: { web_search_requests: 1 } }
  const whole = { choices: [{ index: 0, message: { content: 'hi' }, finish_reason: 'stop' }] }
  const chunks = [
    { choices: [{ index: 0, delta: { content: 'hi' } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { choices: [], usage: stated },
  ]
  for (const stream of [false, true]) {
    const { key, accountId } = await gateway.tenant()
    const events = [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]']
    if (stream) send(events.map((one) => `data: ${one}\n\n`).join(''), EVENT_STREAM)
    else send(JSON.stringify({ ...whole, usage: stated }), 'application/json')
    const body = { model: 'faulty', stream, ...LIMITED }
    const posted = gateway.post('/v1/chat/completions', key, body)
    const answer = await within(30_000, 'end of the answer', posted)
    assert.equal(answer.status, stream ? 200 : 500, answer.text)
    const { basis, review, held, charged } = await gateway.record(answer, key)
    const expected = stream ? { basis: 'estimate', charged: held } : { basis: 'none', charged: '0' }
    assert.deepEqual({ basis, charged, review }, { ...expected, review: true })
    assert.equal((await gateway.balance(accountId)).held, 0n)
  }
})
