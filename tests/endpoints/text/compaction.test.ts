/** POST /v1/responses/compact: passed to a vendor that has it, refused by name elsewhere. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { type LocalServer, readBody, startServer } from '../../support/servers/local-server.ts'

const PATH = '/v1/responses/compact'
const OUTPUT = [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'c2VjcmV0' }]
const COMPACTED = {
  id: 'resp_9',
  object: 'response.compaction',
  output: OUTPUT,
  usage: {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 40 },
    output_tokens: 7,
    total_tokens: 107,
  },
}

let gateway: TestGateway
let vendor: LocalServer
let answer: unknown = COMPACTED
const seen: { path: string; body: Record<string, unknown> }[] = []

before(async () => {
  vendor = await startServer(async (request, response) => {
    const body = JSON.parse(await readBody(request))
    seen.push({ path: request.url ?? '', body })
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answer))
  })
  gateway = await startTestGateway()
  const settings = { base_url: `${vendor.url}/v1`, api_key: 'k' }
  const prices = [
    { unit: 'input_token', per: 1, amount: '0.001' },
    { unit: 'cached_input_token', per: 1, amount: '0.0001' },
    { unit: 'output_token', per: 1, amount: '0.01' },
  ]
  const model = (id: string) => ({
    id,
    type: 'chat',
    prices,
    routes: [{ channel: id, upstream_model: 'vendor-model' }],
  })
  await gateway.apply({
    channels: [
      { id: 'native', upstream: 'openai-compatible', settings },
      {
        id: 'translated',
        upstream: 'openai-compatible',
        settings: { ...settings, responses: 'translate' },
      },
    ],
    models: [model('native'), model('translated')],
  })
})
after(async () => {
  await gateway.stop()
  await vendor.stop()
})

test('a native model compacts: bytes pass, and the stated tokens are charged', async () => {
  const { key, accountId } = await gateway.tenant()
  const before = await gateway.balance(accountId)
  const body = { model: 'native', input: [{ role: 'user', content: 'hi' }], future: 1 }
  const compacted = await gateway.post(PATH, key, body)
  assert.equal(compacted.status, 200, compacted.text)
  assert.deepEqual(compacted.json, COMPACTED)
  assert.deepEqual(seen.at(-1), {
    path: '/v1/responses/compact',
    body: { ...body, model: 'vendor-model' },
  })
  const record = await gateway.record(compacted, key)
  assert.equal(record.basis, 'usage')
  const now = await gateway.balance(accountId)
  // 60 x 0.001 + 40 x 0.0001 + 7 x 0.01
  assert.equal(before.available - now.available, 134_000_000n)
  assert.equal(now.held, 0n)
})

test('a compaction goes back to its vendor as it is', async () => {
  const { key } = await gateway.tenant()
  await gateway.post(PATH, key, { model: 'native', input: 'hi' })
  answer = { ...COMPACTED, object: 'response', status: 'completed' }
  const next = await gateway.post('/v1/responses', key, { model: 'native', input: OUTPUT })
  answer = COMPACTED
  assert.equal(next.status, 200, next.text)
  assert.deepEqual(seen.at(-1)?.body.input, OUTPUT)
})

test('other models refuse by name, and nothing is charged', async () => {
  const { key, accountId } = await gateway.tenant()
  const before = await gateway.balance(accountId)
  for (const model of ['translated', 'sim-claude']) {
    const { status, json } = await gateway.post(PATH, key, { model, input: 'x' })
    assert.deepEqual([status, json.error.param], [400, 'model'])
  }
  const { status, json } = await gateway.post('/v1/responses', key, {
    model: 'translated',
    input: OUTPUT,
  })
  assert.deepEqual([status, json.error.param], [400, 'input[0]'])
  assert.deepEqual(await gateway.balance(accountId), before)
})

test('an answer of another shape is the vendor’s failure', async () => {
  const { key, accountId } = await gateway.tenant()
  const before = await gateway.balance(accountId)
  answer = { choices: [] }
  const { status } = await gateway.post(PATH, key, { model: 'native', input: 'x' })
  answer = COMPACTED
  assert.equal(status, 502)
  assert.deepEqual(await gateway.balance(accountId), before)
})
