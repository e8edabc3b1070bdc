/** POST /v1/responses, black box: with a native upstream and with a chat upstream. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import OpenAI from 'openai'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { testCommonStatuses } from '../common-statuses.ts'

const PATH = '/v1/responses'
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
  const settings = { base_url: `${gateway.simulators.url}/openai/v1`, api_key: 'sim-openai-key' }
  const prices = [{ unit: 'output_token', per: 1, amount: '0.001' }]
  await gateway.apply({
    channels: [
      {
        id: 'translating',
        upstream: 'openai-compatible',
        settings: { ...settings, responses: 'translate' },
      },
      {
        id: 'without',
        upstream: 'openai-compatible',
        settings: { ...settings, base_url: `${gateway.simulators.url}/openai/nowhere` },
      },
    ],
    models: [
      {
        id: 'translated',
        type: 'chat',
        prices,
        routes: [{ channel: 'translating', upstream_model: 'sim-chat' }],
      },
      {
        id: 'without',
        type: 'chat',
        prices,
        routes: [{ channel: 'without', upstream_model: 'x' }],
      },
    ],
  })
})
after(() => gateway.stop())

const ask = (input: unknown, more: object = {}) => ({ model: 'sim-chat', input, ...more })

for (const model of ['sim-chat', 'translated', 'sim-claude']) {
  test(`200 from ${model}: a response, charged by its usage`, async () => {
    const { key } = await gateway.tenant()
    const answer = await gateway.post(PATH, key, ask('[[say:a reply]]', { model }))
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.json.object, 'response')
    assert.equal(answer.json.status, 'completed')
    assert.match(JSON.stringify(answer.json.output), /a reply/)
    const record = await gateway.record(answer, key)
    assert.equal(record.basis, 'usage')
    const output = record.lines.find((line) => line.unit === 'output_token')
    assert.equal(output?.quantity, answer.json.usage.output_tokens)
  })

  test(`200 from ${model}: a stream that the openai package reads, unmodified`, async () => {
    const { key } = await gateway.tenant()
    const client = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
    const stream = client.responses.stream({ model, input: '[[say:streamed words]]' })
    const final = await stream.finalResponse()
    assert.equal(final.output_text, 'streamed words')
    assert.ok((final.usage?.total_tokens ?? 0) > 0)
  })
}

test('a native stream is byte for byte the vendor’s', async () => {
  const { key } = await gateway.tenant()
  const answer = await gateway.post(PATH, key, ask('[[say:bytes]]', { stream: true }))
  const types = [...answer.text.matchAll(/^event: (.+)$/gm)].map((match) => match[1])
  assert.equal(types[0], 'response.created')
  assert.equal(types.at(-1), 'response.completed')
})

test('the refusal of a vendor without this API is passed on, and nothing is charged', async () => {
  const { key, accountId } = await gateway.tenant()
  const before = await gateway.balance(accountId)
  const answer = await gateway.post(PATH, key, ask('hi', { model: 'without' }))
  assert.equal(answer.status, 404)
  assert.deepEqual(await gateway.balance(accountId), before)
})

test('426 to a GET without an upgrade, so that agents fall back at once', async () => {
  const { key } = await gateway.tenant()
  const response = await gateway.fetch(PATH, { key })
  assert.equal(response.status, 426)
  // RFC 9110 15.5.22 wants the protocol to be named.
  assert.equal(response.headers.get('upgrade'), 'websocket')
  await response.text()
})

test('400: an input of no known shape', async () => {
  const { key } = await gateway.tenant()
  for (const input of [7, {}, ['x']]) {
    assert.equal((await gateway.post(PATH, key, ask(input))).status, 400)
  }
})

testCommonStatuses(() => gateway, {
  path: PATH,
  body: ask('hello'),
  model: 'sim-chat',
  envelope: 'nested',
  withWords: (words) => ask(words),
  withModel: (model) => ({ path: PATH, body: ask('hello', { model }) }),
})

test('400 and nothing is sent: a request without anything to answer', async () => {
  const { key } = await gateway.tenant()
  for (const model of ['translated', 'sim-chat']) {
    for (const more of [{}, { input: null }, { prompt: null, previous_response_id: null }]) {
      const answer = await gateway.post(PATH, key, { model, instructions: 'be brief', ...more })
      assert.equal(answer.status, 400, answer.text)
      assert.match(answer.json.error.message, /^input: .*previous_response_id/)
      assert.equal(answer.json.error.param, 'input')
    }
  }
  const { data } = (await gateway.get('/v1/usage', key)).json
  assert.deepEqual(data, [])
})
