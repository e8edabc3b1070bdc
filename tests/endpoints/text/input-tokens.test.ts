/** POST /v1/responses/input_tokens, black box: a free estimate. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import OpenAI from 'openai'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'

const PATH = '/v1/responses/input_tokens'
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

test('200: more text is more tokens, a picture is no text, and the balance is untouched', async () => {
  const { key, accountId } = await gateway.tenant({ balance: '1' })
  const client = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  const short = await client.responses.inputTokens.count({ model: 'sim-chat', input: 'hi' })
  assert.equal(short.object, 'response.input_tokens')
  const long = await client.responses.inputTokens.count({
    model: 'sim-chat',
    instructions: 'Be brief. '.repeat(50),
    input: 'hi',
  })
  assert.ok(long.input_tokens >= short.input_tokens + 100)
  const image_url = `data:image/png;base64,${'A'.repeat(400_000)}`
  const content = [{ type: 'input_image', image_url, detail: 'auto' } as const]
  const picture = await client.responses.inputTokens.count({
    model: 'sim-chat',
    input: [{ type: 'message', role: 'user', content }],
  })
  assert.ok(picture.input_tokens < 10_000, String(picture.input_tokens))
  assert.equal((await gateway.balance(accountId)).available, 1_000_000_000n)
})

test('400 with the field, 401, 413 and 415', async () => {
  const { key } = await gateway.tenant()
  const wrong = await gateway.post(PATH, key, { input: 7 })
  assert.deepEqual([wrong.status, wrong.json.error.param], [400, 'input'])
  assert.equal((await gateway.post(PATH, key, '{"input":')).status, 400)
  assert.equal((await gateway.post(PATH, '', { input: 'hi' }, { authorization: '' })).status, 401)
  const large = await gateway.post(PATH, key, { input: 'hi', pad: 'x'.repeat(65 * 1024 * 1024) })
  assert.equal(large.status, 413)
  const encoded = await gateway.post(PATH, key, { input: 'hi' }, { 'content-encoding': 'compress' })
  assert.equal(encoded.status, 415)
})
