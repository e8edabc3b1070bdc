/** What SDKs cannot show: bytes, headers and statuses of the cases that clients depend on. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/in-process.ts'
import { until } from '../support/until.ts'

const MESSAGES = '/v1/messages'
const VERSION = { 'anthropic-version': '2023-06-01' }
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

function ask(words: string, more: object = {}) {
  const messages = [{ role: 'user', content: words }]
  return { model: 'sim-chat', max_tokens: 300, messages, ...more }
}

/** What reached the simulators last. */
function received() {
  const call = gateway.simulators.calls.list().at(-1)
  if (!call) throw new Error('nothing reached the simulators')
  return { ...call, body: Buffer.from(call.body_base64, 'base64').toString() }
}

async function send(path: string, body: object, headers: object = {}): Promise<TestAnswer> {
  const { key } = await gateway.tenant()
  return gateway.post(path, key, body, headers)
}

/** Identifiers and clocks differ between two answers to the same question; nothing else may. */
function withoutIdentity(text: string): string {
  return text
    .replace(/"(id|item_id)":"[^"]*"/g, '"$1":""')
    .replace(/"(created|created_at|completed_at)":\d+/g, '"$1":0')
    .replace(/"obfuscation":"[^"]*"/g, '"obfuscation":""')
}

for (const [path, body, vendor, headers] of [
  [
    '/v1/chat/completions',
    ask('[[say:a 世 b]]', { stream: true, stream_options: { include_usage: true } }),
    '/openai/v1/chat/completions',
    { authorization: 'Bearer sim-openai-key' },
  ],
  [
    '/v1/responses',
    { model: 'sim-chat', input: '[[say:a 世 b]]', stream: true },
    '/openai/v1/responses',
    { authorization: 'Bearer sim-openai-key' },
  ],
  [
    MESSAGES,
    ask('[[say:a 世 b]]', { model: 'sim-claude', stream: true }),
    '/anthropic/v1/messages',
    { 'x-api-key': 'sim-anthropic-key', ...VERSION },
  ],
] as const) {
  test(`passed through, a stream of ${path} is the vendor’s, byte for byte`, async () => {
    const direct = await fetch(gateway.simulators.url + vendor, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    const answer = await send(path, body, VERSION)
    assert.equal(answer.status, 200, answer.text)
    assert.equal(withoutIdentity(answer.text), withoutIdentity(await direct.text()))
  })
}

test('an answer carries the gateway’s headers, not the vendor’s', async () => {
  const answer = await send(MESSAGES, ask('hi'), VERSION)
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
  assert.equal(answer.headers.get('content-encoding'), null)
  const length = answer.headers.get('content-length')
  if (length !== null) assert.equal(Number(length), Buffer.byteLength(answer.text))
})

test('a caller that disconnects ends the call, and the part delivered is settled', async () => {
  const { key, accountId } = await gateway.tenant()
  const words = '[[chunks:200]] [[tokens:200]] [[chunk-delay:20]]'
  const response = await gateway.fetch(MESSAGES, {
    key,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...VERSION },
    body: JSON.stringify(ask(words, { stream: true })),
  })
  const reader = response.body?.getReader()
  await reader?.read()
  await reader?.cancel()
  await until('the hold to be settled', async () => {
    const { held } = await gateway.balance(accountId)
    return held === 0n ? true : undefined
  })
  assert.notEqual((await gateway.record(response, key)).charged, '0')
})

test('a messages vendor receives the request unchanged except for the model', async () => {
  const tool = {
    name: 'find',
    input_schema: { type: 'object' },
    cache_control: { type: 'ephemeral' },
  }
  const body = `{ "max_tokens":50,"tools":[${JSON.stringify(tool)}],  "model":"sim-claude",
    "metadata":{"user_id":"{\\"device\\":1}"}, "messages":[{"role":"user","content":"h\\u0069"}]}`
  const { key } = await gateway.tenant()
  const answer = await gateway.post(MESSAGES, key, body, VERSION)
  assert.equal(answer.status, 200, answer.text)
  assert.equal(received().body, body)
})

test('a messages vendor receives the SDK’s headers and not the gateway’s key', async () => {
  const told = {
    'anthropic-beta': 'effort-2025-11-24',
    'x-stainless-lang': 'js',
    'user-agent': 'sdk/1',
  }
  const { key } = await gateway.tenant()
  const body = ask('hi', { model: 'sim-claude' })
  await gateway.post(MESSAGES, key, body, { ...told, ...VERSION })
  const { headers } = received()
  for (const [name, value] of Object.entries(told)) assert.equal(headers[name], value)
  assert.equal(headers['x-api-key'], 'sim-anthropic-key')
  assert.ok(!JSON.stringify(headers).includes(key))
})

test('any version date is accepted, and the vendor receives the channel’s own', async () => {
  const body = ask('hi', { model: 'sim-claude' })
  const answer = await send(MESSAGES, body, { 'anthropic-version': '2026-10-21' })
  assert.equal(answer.status, 200)
  assert.equal(received().headers['anthropic-version'], '2023-06-01')
})

test('a query string on /v1/messages changes nothing', async () => {
  const answer = await send(`${MESSAGES}?beta=true`, ask('[[say:same]]'), VERSION)
  assert.equal(answer.json.content[0].text, 'same')
})

test('the list of models answers a client that discovers models', async () => {
  const { key } = await gateway.tenant()
  const answer = await gateway.get('/v1/models?limit=1000', key)
  assert.equal(answer.status, 200)
  assert.ok(answer.json.data.some(({ id }: { id: string }) => id === 'sim-claude'))
})

test('HEAD requests with which agents probe the server need no key', async () => {
  const response = await gateway.fetch('/api/hello', { method: 'HEAD' })
  assert.equal(response.status, 200)
})

test('426 where a proxy drops the upgrade of /v1/responses, so that agents send a POST', async () => {
  const { key } = await gateway.tenant()
  assert.equal((await gateway.get('/v1/responses', key)).status, 426)
})

test('SDKs read the nested error body with its type at the top', async () => {
  const answer = await send(MESSAGES, ask('hi', { model: 'nowhere' }), VERSION)
  assert.equal(answer.json.type, 'error')
  assert.equal(typeof answer.json.error.type, 'string')
  assert.match(answer.json.error.message, /nowhere/)
})

test('401 and 402 tell the client not to retry', async () => {
  const refused = await gateway.post(MESSAGES, 'tr-nothing', ask('hi'), VERSION)
  assert.equal(refused.status, 401)
  assert.equal(refused.headers.get('x-should-retry'), 'false')
  const { key } = await gateway.tenant({ balance: '0' })
  const poor = await gateway.post(MESSAGES, key, ask('hi'), VERSION)
  assert.equal(poor.status, 402)
  assert.equal(poor.headers.get('x-should-retry'), 'false')
})

test('a conversation over the context length is refused with the message that agents recognise', async () => {
  const said =
    "This model's maximum context length is 1000 tokens. However, your messages resulted in 1200 tokens."
  const fault = `status=400;error-code=context_length_exceeded;error-message=${said}`
  const answer = await send(MESSAGES, ask(`[[fault:${fault}]]`), VERSION)
  assert.equal(answer.status, 400, answer.text)
  assert.match(answer.json.error.message, /^prompt is too long: 1200 tokens > 1000 maximum/)
})

test('it has its code where a vendor states another one, and names a limit that is too large', async () => {
  const moonshot = 'Your request exceeded model token limit: 1000 (requested: 1200)'
  const { messages } = ask(`[[fault:status=400;error-message=${moonshot}]]`)
  const chat = await send('/v1/chat/completions', { model: 'sim-chat', messages })
  const { status, json } = chat
  assert.deepEqual([status, json.error.code], [400, 'context_length_exceeded'], chat.text)
  assert.match(json.error.message, /exceeded model token limit/)
  const vllm =
    "'max_tokens' is too large: 900. This model's maximum context length is 1000 tokens and your request has 500 input tokens."
  const large = await send(MESSAGES, ask(`[[fault:status=400;error-message=${vllm}]]`), VERSION)
  const words = /^input length and `max_tokens` exceed context limit: 500 \+ 900 > 1000$/
  assert.match(large.json.error.message, words)
})

test('a request repeated after its stream broke has a record of its own', async () => {
  const { key } = await gateway.tenant()
  const words = '[[tokens:100]] [[fault:reset-mid=5;times=1]] [[call:again]]'
  const died = await gateway.post(MESSAGES, key, ask(words, { stream: true }), VERSION)
  const again = await gateway.post(MESSAGES, key, ask(words), VERSION)
  assert.equal(again.status, 200, again.text)
  const [first, second] = [await gateway.record(died, key), await gateway.record(again, key)]
  assert.equal(first.status, 'failed')
  assert.equal(second.status, 'succeeded')
  assert.notEqual(first.request_id, second.request_id)
  const told = second.lines.find(({ unit }) => unit === 'output_token')
  assert.equal(told?.quantity, again.json.usage.output_tokens)
})

test('a chat request passes unchanged except for the model', async () => {
  const { key } = await gateway.tenant()
  const body =
    '{"model":"sim-chat", "stream":false,"max_completion_tokens":40,"seed":7,\n"messages":[{"role":"user","content":"hi"}]}'
  const answer = await gateway.post('/v1/chat/completions', key, body)
  assert.equal(answer.status, 200, answer.text)
  assert.equal(received().body, body)
})

test('the older name of the output limit becomes the one that the channel wants', async () => {
  const { key } = await gateway.tenant()
  const post = (body: string) => gateway.post('/v1/chat/completions', key, body)
  const rest = '"model":"sim-reasoner","messages":[{"role":"user","content":"a","max_tokens":1}]}'
  const older = await post(`{ "max\\u005ftokens" : 40,${rest}      `)
  assert.equal(older.status, 200, older.text)
  const renamed = `{ "max_completion_tokens" : 40,${rest}      `
  assert.equal(received().body, renamed)
  const newer = await post(renamed.trimEnd())
  const records = await Promise.all([older, newer].map((answer) => gateway.record(answer, key)))
  assert.equal(records[0]?.held, records[1]?.held)
  const both = await post(`{"max_tokens":40,"max_completion_tokens":50,${rest}`)
  assert.equal(both.status, 400)
  assert.equal(both.json.error.param, 'max_tokens')
})

test('the role developer becomes system where the vendor refuses it', async () => {
  const { key } = await gateway.tenant()
  const rest = '"model":"sim-ark-chat", "max_completion_tokens":40'
  const text = '{"type":"text","text":"developer","id":9007199254740993}'
  const said = `{"role":"user","content":[${text}]}]}`
  const sent = `{${rest},"messages":[{"role":"developer","content":"a"},${said}`
  const answer = await gateway.post('/v1/chat/completions', key, sent)
  assert.equal(answer.status, 200, answer.text)
  assert.equal(received().body, sent.replace('"role":"developer"', '"role":"system"'))
  const { status, basis } = await gateway.record(answer, key)
  assert.deepEqual([status, basis], ['succeeded', 'usage'])
})

test('the search that agents offer passes at a vendor that wants a header for it', async () => {
  const { key } = await gateway.tenant()
  const body = { model: 'sim-ark-chat', input: 'hi', tools: [{ type: 'web_search' }] }
  const answer = await gateway.post('/v1/responses', key, body)
  assert.equal(answer.status, 200, answer.text)
})

test('a long integer in an earlier call reaches every vendor as it was sent', async () => {
  const { key } = await gateway.tenant()
  const id = '9007199254740993'
  // The id is no messages vendor's, so that their conversation is written anew.
  const call = `{"type":"tool_use","id":"look:1","name":"look","input":{"id":${id}}}`
  const result = '{"type":"tool_result","tool_use_id":"look:1","content":"ok"}'
  const tools = '[{"name":"look","input_schema":{"type":"object"}}]'
  for (const model of ['sim-chat', 'sim-claude', 'sim-gemini-3']) {
    const body = `{"model":"${model}","max_tokens":50,"tools":${tools},"messages":[
      {"role":"user","content":"hi"},{"role":"assistant","content":[${call}]},
      {"role":"user","content":[${result}]}]}`
    const answer = await gateway.post(MESSAGES, key, body, VERSION)
    assert.equal(answer.status, 200, answer.text)
    assert.ok(received().body.replaceAll('\\', '').includes(`{"id":${id}}`), received().body)
  }
})
