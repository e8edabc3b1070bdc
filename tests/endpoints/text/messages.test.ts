/** POST /v1/messages, black box: over a chat upstream and over a native one. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { testCommonStatuses } from '../common-statuses.ts'

const PATH = '/v1/messages'
const VERSION = { 'vendor-version': '2023-06-01' }
const MODELS = ['sim-chat', 'sim-reasoner', 'sim-claude']
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

function ask(words: string, more: object = {}) {
  return {
    model: 'sim-chat',
    max_tokens: 500,
    messages: [{ role: 'user', content: words }],
    ...more,
  }
}

for (const model of MODELS) {
  test(`200 from ${model}: a message, charged by the vendor’s usage`, async () => {
    const { key } = await gateway.tenant()
    const answer = await gateway.post(PATH, key, ask('[[say:good day]]', { model }), VERSION)
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.json.type, 'message')
    assert.deepEqual(answer.json.content.at(-1).text, 'good day')
    assert.equal(answer.json.stop_reason, 'end_turn')
    const record = await gateway.record(answer, key)
    assert.equal(record.basis, 'usage')
    const quantity = (unit: string) =>
      record.lines.find((line) => line.unit === unit)?.quantity ?? 0
    assert.equal(quantity('input_token'), answer.json.usage.input_tokens)
    assert.equal(quantity('output_token'), answer.json.usage.output_tokens)
  })

  test(`200 from ${model}: a stream that the vendor’s SDK reads, unmodified`, async () => {
    const { key } = await gateway.tenant()
    const client = new Anthropic({ apiKey: key, baseURL: gateway.url, maxRetries: 0 })
    const stream = client.messages.stream({
      model,
      max_tokens: 200,
      messages: [{ role: 'user', content: '[[say:streamed words]]' }],
    })
    const message = await stream.finalMessage()
    const text = message.content.find((block) => block.type === 'text')
    assert.equal(text?.type === 'text' && text.text, 'streamed words')
    assert.ok(message.usage.output_tokens > 0)
  })

  test(`a tool is called and answered through ${model}`, async () => {
    const { key } = await gateway.tenant()
    const client = new Anthropic({ apiKey: key, baseURL: gateway.url, maxRetries: 0 })
    const tools = [{ name: 'weather', input_schema: { type: 'object' as const } }]
    const question = { role: 'user' as const, content: '[[tool:weather {"city":"Aare"}]]' }
    const first = await client.messages.create({
      model,
      max_tokens: 200,
      tools,
      messages: [question],
    })
    const call = first.content.find((block) => block.type === 'tool_use')
    assert.ok(call?.type === 'tool_use', JSON.stringify(first))
    assert.deepEqual(call.input, { city: 'Aare' })
    assert.equal(first.stop_reason, 'tool_use')
    const second = await client.messages.create({
      model,
      max_tokens: 200,
      tools,
      messages: [
        question,
        { role: 'assistant', content: first.content },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: call.id, content: 'sunny in Aare' }],
        },
      ],
    })
    assert.match(JSON.stringify(second.content), /sunny in Aare/)
  })
}

test('a refusal before any output: charged in the categories that the vendor bills', async () => {
  const { key } = await gateway.tenant()
  const asked = async (category: string, stream: boolean) => {
    const words = `hi [[fault:declined=${category}]]`
    const answer = await gateway.post(
      PATH,
      key,
      ask(words, { model: 'sim-claude', stream }),
      VERSION,
    )
    assert.match(answer.text, /"stop_reason":"refusal"/)
    const { lines } = await gateway.record(answer, key)
    const [entry] = gateway.simulators.book.entries().slice(-1)
    for (const { unit, quantity } of lines) assert.equal(quantity, entry?.units[unit] ?? 0, unit)
    return lines.some(({ quantity }) => quantity > 0)
  }
  const billed = ['bio', 'reasoning_extraction', 'frontier_llm']
  for (const category of ['cyber', 'null', ...billed]) {
    assert.equal(await asked(category, false), billed.includes(category), category)
  }
  assert.deepEqual([await asked('cyber', true), await asked('bio', true)], [false, true])
})

test('the version header: required, one value of ours, any date of theirs', async () => {
  const { key } = await gateway.tenant()
  const status = async (headers: object) =>
    (await gateway.post(PATH, key, ask('hi'), headers)).status
  const neither = await gateway.post(PATH, key, ask('hi'), {})
  assert.equal(neither.status, 400)
  assert.match(neither.text, /vendor-version: this header, or anthropic-version, is req/)
  assert.equal(await status({ 'vendor-version': '2024-01-01' }), 400)
  assert.equal(await status({ 'anthropic-version': 'soon' }), 400)
  assert.equal(await status({ 'vendor-version': '2023-06-01' }), 200)
  assert.equal(await status({ 'anthropic-version': '2026-10-21' }), 200)
})

test('x-api-key is the credential, the query is ignored', async () => {
  const { key } = await gateway.tenant()
  const response = await gateway.fetch(`${PATH}?beta=true`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json', ...VERSION },
    body: JSON.stringify(ask('hi')),
  })
  assert.equal(response.status, 200)
  await response.text()
})

test('400: model, max_tokens and messages are required and named', async () => {
  const { key } = await gateway.tenant()
  const { model: _model, ...noModel } = ask('x')
  const answer = await gateway.post(PATH, key, noModel, VERSION)
  assert.equal(answer.status, 400)
  assert.deepEqual(answer.json, {
    error: 'model field is required',
    type: 'invalid_request_error',
  })
  for (const [change, message] of [
    [{ max_tokens: undefined }, /^max_tokens: /],
    [{ max_tokens: 0 }, /^max_tokens: /],
    [{ max_tokens: 1.5 }, /^max_tokens: /],
    [{ messages: [] }, /^messages: /],
    [{ messages: [{ role: 'robot', content: 'x' }] }, /^messages\[0\]\.role: /],
    [{ messages: [{ role: 'user' }] }, /^messages\[0\]\.content: /],
  ] as const) {
    const refused = await gateway.post(PATH, key, ask('x', change), VERSION)
    assert.equal(refused.status, 400, JSON.stringify(change))
    assert.match(refused.json.error, message)
  }
})

test('errors are nested for callers that send anthropic-version and flat for others', async () => {
  const { key } = await gateway.tenant({ balance: '0' })
  const flat = await gateway.post(PATH, key, ask('x'), VERSION)
  assert.equal(flat.json.type, 'billing_error')
  const nested = await gateway.post(PATH, key, ask('x'), { 'anthropic-version': '2023-06-01' })
  assert.equal(nested.json.error.type, 'billing_error')
})

test('private fields never reach a chat upstream', async () => {
  const { key } = await gateway.tenant()
  const canary = 'canary-of-private-data'
  const body = ask('[[call:private]] hi', {
    safeguards: { directory: canary },
    metadata: { user_id: canary },
    context_management: { edits: [canary] },
    system: [{ type: 'text', text: `x-anthropic-billing-header: ${canary}` }],
  })
  const answer = await gateway.post(PATH, key, body, VERSION)
  assert.equal(answer.status, 200, answer.text)
  const calls = await fetch(`${gateway.simulators.url}/sim/calls`).then((found) => found.text())
  assert.ok(!calls.includes(canary))
  assert.ok(!calls.includes(Buffer.from(canary).toString('base64').slice(2, -4)))
})

test('a broken stream has an error event and no end, and is charged for its part', async () => {
  const { key } = await gateway.tenant()
  for (const model of MODELS) {
    const words = '[[fault:reset-mid=5]] [[tokens:200]]'
    const answer = await gateway.post(PATH, key, ask(words, { model, stream: true }), VERSION)
    assert.match(answer.text, /event: error\n/, `${model}: ${answer.text.slice(-300)}`)
    assert.doesNotMatch(answer.text, /message_stop/)
    const record = await gateway.record(answer, key)
    assert.equal(record.status, 'failed')
    assert.notEqual(record.charged, '0')
  }
})

test('the SDK finds the request id, in answers and in errors', async () => {
  const { key } = await gateway.tenant()
  const client = new Anthropic({ apiKey: key, baseURL: gateway.url, maxRetries: 0 })
  const messages = [{ role: 'user' as const, content: 'hi' }]
  const message = await client.messages.create({ model: 'sim-claude', max_tokens: 5, messages })
  assert.match(message._request_id ?? '', /^req_/)
  const refused = client.messages.create({ model: 'vendor-web-search', max_tokens: 5, messages })
  await assert.rejects(refused, (error) => {
    assert.ok(error instanceof Anthropic.BadRequestError)
    assert.match(error.requestID ?? '', /^req_/)
    assert.match(error.message, /GET \/v1\/models lists the paths of each model/)
    return true
  })
})

for (const model of MODELS) {
  test(`the SDK’s tool runner sends ${model} the whole conversation, since none is kept`, async () => {
    const { key } = await gateway.tenant()
    const client = new Anthropic({ apiKey: key, baseURL: gateway.url, maxRetries: 0 })
    const { content } = await client.beta.messages.toolRunner({
      model,
      max_tokens: 500,
      messages: [{ role: 'user', content: '[[tool:weather {"city":"Oslo"}]]' }],
      tools: [
        {
          name: 'weather',
          input_schema: { type: 'object' },
          parse: (input: unknown) => input,
          run: () => 'sunny',
        },
      ],
    })
    const text = content.find((block) => block.type === 'text')
    assert.equal(text?.type === 'text' && text.text, 'Tool result 1: sunny')
    const [sent] = gateway.simulators.calls.list().slice(-1)
    assert.match(Buffer.from(sent?.body_base64 ?? '', 'base64').toString(), /Oslo/)
  })
}

test('400 for a kept conversation, in words and as SDKs read it, before anything is held', async () => {
  const { key, accountId } = await gateway.tenant()
  const before = await gateway.balance(accountId)
  for (const model of MODELS) {
    const thread = { type: 'continue', previous_message_id: 'msg_of_somebody_else' }
    const body = ask('hi', { model, thread })
    const refused = await gateway.post(PATH, key, body, { 'anthropic-version': '2023-06-01' })
    assert.equal(refused.status, 400, refused.text)
    assert.match(refused.json.error.message, /^thread: .*send the whole conversation$/)
    const { error_code: code, unsupported } = refused.json.error.details
    assert.deepEqual([code, unsupported], ['thread_unsupported_request', ['thread']])
    assert.equal(
      (await gateway.post(PATH, key, ask('hi', { model, thread: null }), VERSION)).status,
      200,
    )
  }
  assert.equal((await gateway.balance(accountId)).held, before.held)
})

testCommonStatuses(() => gateway, {
  path: PATH,
  body: ask('hello'),
  model: 'sim-chat',
  envelope: 'flat',
  headers: VERSION,
  withWords: (words) => ask(words),
  withModel: (model) => ({ path: PATH, body: { ...ask('hello'), model } }),
})
