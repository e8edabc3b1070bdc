/** Usage that is stated in unusual places, and requests whose usage would be stated nowhere. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../support/in-process.ts'
import { type LocalServer, startServer } from '../support/servers/local-server.ts'

const CHAT = '/v1/chat/completions'
const MESSAGES = '/v1/messages'
const COMPACT = '/v1/responses/compact'
const UNITS = [
  'input_token',
  'output_token',
  'cache_write_5m_token',
  'cache_write_1h_token',
  'web_search_call',
]

let gateway: TestGateway
let vendor: LocalServer
let script: (response: ServerResponse) => unknown = () => undefined

before(async () => {
  vendor = await startServer((request, response) => {
    request.resume().on('end', () => script(response))
  })
  gateway = await startTestGateway()
  const settings = { base_url: `${vendor.url}/v1`, api_key: 'a-key' }
  const own = { base_url: vendor.url, api_key: 'a-key' }
  const model = (id: string, type: string, channel: string, units: readonly string[]) => ({
    id,
    type,
    prices: units.map((unit) => ({
      unit,
      per: 1,
      amount: unit === 'web_search_call' ? '1' : '0.001',
    })),
    routes: [{ channel, upstream_model: id }],
  })
  await gateway.apply({
    channels: [
      { id: 'odd', upstream: 'openai-compatible', settings },
      { id: 'messages', upstream: 'anthropic', settings },
      { id: 'ranks', upstream: 'rerank', settings: { ...own, shape: 'jina' } },
      { id: 'voice', upstream: 'doubao-speech', settings: own },
      {
        id: 'translated',
        upstream: 'openai-compatible',
        settings: { ...settings, responses: 'translate' },
      },
    ],
    models: [
      model('chat', 'chat', 'odd', UNITS),
      model('claude', 'chat', 'messages', UNITS),
      model('gpt-5-search-api', 'chat', 'translated', UNITS),
      model('sonar-deep-research', 'chat', 'odd', UNITS),
      model('plain', 'chat', 'messages', ['input_token', 'output_token']),
      model('ranks', 'rerank', 'ranks', ['input_token']),
      model('voice', 'speech', 'voice', ['character']),
      model('vectors', 'embedding', 'odd', ['input_token']),
      model('pictures', 'image', 'odd', ['image']),
      model('painter', 'image', 'odd', ['input_token', 'image_output_token']),
    ],
  })
})
after(async () => {
  await gateway.stop()
  await vendor.stop()
})

const HI = { max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] }

interface StreamEvent {
  readonly type: string
  readonly [member: string]: unknown
}

function answer(document: object): void {
  script = (response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(document))
  }
}

function stream(...events: readonly StreamEvent[]): void {
  script = (response) => {
    response.setHeader('content-type', 'text/event-stream')
    response.end(
      events.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join(''),
    )
  }
}

async function recorded(path: string, body: object) {
  const { key } = await gateway.tenant()
  const reply = await gateway.post(path, key, body, { 'anthropic-version': '2023-06-01' })
  return gateway.record(reply, key)
}

/** The quantities that a call is charged for. */
async function charged(path: string, body: object): Promise<Record<string, number>> {
  const { lines } = await recorded(path, body)
  return Object.fromEntries(lines.map(({ unit, quantity }) => [unit, quantity]))
}

const marked = (ttl?: string) => ({
  role: 'user',
  content: [
    { type: 'text', text: 'hi', cache_control: { type: 'ephemeral', ...(ttl && { ttl }) } },
  ],
})
const message = {
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: 'a' }],
  stop_reason: 'end_turn',
}
const completion = { choices: [{ index: 0, message: { content: 'a' }, finish_reason: 'stop' }] }

for (const [ttl, unit] of [
  ['1h', 'cache_write_1h_token'],
  [undefined, 'cache_write_5m_token'],
] as const) {
  test(`cache writes that state no lifetime have that of the request's marks: ${ttl}`, async () => {
    const request = { max_tokens: 100, messages: [marked(ttl)] }
    const written = { input_tokens: 10, cache_creation_input_tokens: 40, output_tokens: 5 }
    const expected = { input_token: 10, [unit]: 40, output_token: 5 }
    answer({ ...message, usage: written })
    assert.deepEqual(await charged(MESSAGES, { model: 'claude', ...request }), expected)
    assert.deepEqual(await charged(CHAT, { model: 'claude', ...request }), expected)
    stream(
      { type: 'message_start', message: { ...message, content: [], usage: written } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: written },
      { type: 'message_stop' },
    )
    const streaming = { model: 'claude', ...request, stream: true }
    assert.deepEqual(await charged(CHAT, streaming), expected)
    const usage = {
      prompt_tokens: 50,
      completion_tokens: 5,
      prompt_tokens_details: { cache_write_tokens: 40 },
    }
    answer({ ...completion, usage })
    assert.deepEqual(await charged(CHAT, { model: 'chat', ...request }), expected)
  })
}

test('a mark on a function for an hour is refused where the hour has no price', async () => {
  const { key } = await gateway.tenant()
  const cached = { name: 'f', cache_control: { type: 'ephemeral', ttl: '1h' } }
  const request = { model: 'plain', ...HI, tools: [{ type: 'function', function: cached }] }
  answer({ ...message, usage: { input_tokens: 10, output_tokens: 5 } })
  const reply = await gateway.post(CHAT, key, request)
  assert.equal(reply.status, 400, reply.text)
  assert.equal(reply.json.error.param, 'tools[0].function.cache_control.ttl')
})

for (const [path, more] of [
  [CHAT, HI],
  [CHAT, { ...HI, stream: true }],
  [MESSAGES, HI],
  [MESSAGES, { ...HI, stream: true }],
  ['/v1/responses', { input: 'hi' }],
] as const) {
  test(`a model that searches for each answer: ${path} ${JSON.stringify(more)}`, async () => {
    answer({ ...completion, usage: { prompt_tokens: 10, completion_tokens: 5 } })
    const expected = { ...units, web_search_call: 1 }
    assert.deepEqual(await charged(path, { model: 'gpt-5-search-api', ...more }), expected)
  })
}

test('the search of a model that always searches is held for, once', async () => {
  answer({ ...completion, usage: { prompt_tokens: 10, completion_tokens: 5 } })
  const held = async (model: string, more: object = {}) =>
    Number((await recorded(CHAT, { model, ...HI, ...more })).held)
  const usual = await held('chat')
  const [plain, asked] = [
    await held('gpt-5-search-api'),
    await held('gpt-5-search-api', { web_search_options: {} }),
  ]
  // A search costs 1; the requests differ by a few tokens of 0.001.
  assert.equal(Math.round(plain - usual), 1, `${plain} beside ${usual}`)
  assert.equal(Math.round(asked - plain), 0, `${asked} beside ${plain}`)
})

test('what a model finds that always searches is charged as stated', async () => {
  const usage = { prompt_tokens: 40_000, completion_tokens: 5, citation_tokens: 60_000 }
  answer({ ...completion, usage })
  for (const model of ['gpt-5-search-api', 'sonar-deep-research']) {
    const { review, lines } = await recorded(CHAT, { model, ...HI })
    const { quantity } = lines.find(({ unit }) => unit === 'input_token') ?? {}
    const searches = lines.find(({ unit }) => unit === 'web_search_call')?.quantity
    assert.deepEqual([quantity, searches, review], [100_000, 1, false], model)
  }
})

test('zero is no statement about a ranking, nor about speech', async () => {
  answer({ results: [{ index: 0, relevance_score: 1 }], usage: { total_tokens: 0 } })
  const request = { model: 'ranks', query: 'rivers', documents: ['the Nile'] }
  assert.notDeepEqual(await charged('/v1/rerank', request), {})
  script = (response) => {
    response.setHeader('content-type', 'application/json')
    const end = { code: 20000000, message: 'OK', usage: { text_words: 0 } }
    response.end(`${JSON.stringify({ code: 0, data: 'AAAA' })}\n${JSON.stringify(end)}\n`)
  }
  const spoken = { req_params: { text: 'hello', speaker: 'a', audio_params: {} } }
  const path = '/v1/audio/speech/unidirectional?model=voice'
  assert.deepEqual(await charged(path, spoken), { character: 5 })
})

const tokens = { input_tokens: 10, output_tokens: 5 }
const units = { input_token: 10, output_token: 5 }
const error = { type: 'overloaded_error', message: 'busy' }
const begun = { type: 'message_start', message: { ...message, content: [] } }
const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'a' } }
for (const [name, respond, isStream] of [
  ['an error in place of a message', () => answer({ type: 'error', error, usage: tokens }), false],
  ['a message with an error', () => answer({ ...message, error, usage: tokens }), false],
  ['an error event', () => stream(begun, block, { type: 'error', error, usage: tokens }), true],
  [
    'the end of the stream',
    () => stream(begun, block, { type: 'message_stop', usage: tokens }),
    true,
  ],
] as const) {
  test(`messages: usage beside ${name} is charged`, async () => {
    respond()
    for (const path of [MESSAGES, CHAT]) {
      const request = { model: 'claude', ...HI, stream: isStream }
      assert.deepEqual(await charged(path, request), units)
    }
  })
}

test('searches stated with an error are charged, and not made again elsewhere', async () => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 0,
    server_tool_use: { web_search_requests: 3 },
  }
  answer({ error: { message: 'refused' }, usage })
  assert.deepEqual(await charged(CHAT, { model: 'chat', ...HI }), {
    input_token: 10,
    web_search_call: 3,
  })
})

test('images stated with an error are charged', async () => {
  const image = { url: 'https://a.example/b' }
  answer({ data: [image], error: { message: 'one failed' }, usage: { generated_images: 1 } })
  const request = { model: 'pictures', prompt: 'a river', n: 2 }
  assert.deepEqual(await charged('/v1/images/generations', request), { image: 1 })
})

test('images: a side without a valid count is estimated, and zero is none', async () => {
  const data = [{ b64_json: 'AAAA' }]
  const request = { model: 'painter', prompt: 'a river', size: '1024x1024' }
  for (const input_tokens of [undefined, null, -5, 2.5, '7', 0]) {
    answer({ data, usage: { input_tokens, output_tokens: 272 } })
    const { input_token = 0, ...others } = await charged('/v1/images/generations', request)
    assert.ok(input_token > 0 && input_token < 50, `${input_tokens}: ${input_token}`)
    assert.deepEqual(others, { image: 1, image_output_token: 272 })
  }
  answer({ data, usage: { input_tokens: 7, output_tokens: 272 } })
  assert.equal((await charged('/v1/images/generations', request)).input_token, 7)
})

test('embeddings: a total counts where the prompt is 0', async () => {
  const data = [{ object: 'embedding', index: 0, embedding: [0.1] }]
  answer({ data, usage: { prompt_tokens: 0, total_tokens: 7 } })
  const request = { model: 'vectors', input: 'a river' }
  assert.deepEqual(await charged('/v1/embeddings', request), { input_token: 7 })
})

for (const [path, model, field, more] of [
  [COMPACT, 'chat', 'stream', { input: 'hi' }],
  [COMPACT, 'chat', 'background', { input: 'hi' }],
  [CHAT, 'chat', 'deferred', HI],
] as const) {
  test(`${field} is refused on ${path}: the answer would state no usage`, async () => {
    const { key } = await gateway.tenant()
    answer({ request_id: 'later' })
    const reply = await gateway.post(path, key, { model, ...more, [field]: true })
    assert.equal(reply.status, 400, reply.text)
    assert.equal(reply.json.error.param, field)
  })
}
