/** POST /v1/messages/count_tokens, black box: a free estimate. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'

const PATH = '/v1/messages/count_tokens'
const messages = [{ role: 'user', content: 'Name three rivers of Africa.' }]
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

test('200: more text is more tokens, and the balance is untouched', async () => {
  const { key, accountId } = await gateway.tenant({ balance: '1' })
  const short = await gateway.post(PATH, key, { messages })
  assert.equal(short.status, 200, short.text)
  const long = await gateway.post(PATH, key, { system: 'Be brief. '.repeat(50), messages })
  assert.ok(long.json.input_tokens >= short.json.input_tokens + 100)
  assert.equal((await gateway.balance(accountId)).available, 1_000_000_000n)
})

test('400 with the invalid field', async () => {
  const { key } = await gateway.tenant()
  const missing = await gateway.post(PATH, key, { model: 'sim-claude' })
  assert.equal(missing.status, 400)
  assert.match(missing.json.error, /^messages: /)
  const broken = await gateway.post(PATH, key, '{"messages":')
  assert.equal(broken.status, 400)
})

test('401 without a key, in the envelope of the caller’s version header', async () => {
  const flat = await gateway.post(PATH, '', { messages }, { authorization: '' })
  assert.equal(flat.status, 401)
  assert.equal(flat.json.type, 'auth_error')
  const headers = { authorization: '', 'anthropic-version': '2023-06-01' }
  const nested = await gateway.post(PATH, '', { messages }, headers)
  assert.equal(nested.status, 401)
  assert.equal(nested.json.error.type, 'auth_error')
})

test('413 and 415', async () => {
  const { key } = await gateway.tenant()
  const large = await gateway.post(PATH, key, { messages, pad: 'x'.repeat(65 * 1024 * 1024) })
  assert.equal(large.status, 413)
  const encoded = await gateway.post(PATH, key, { messages }, { 'content-encoding': 'compress' })
  assert.equal(encoded.status, 415)
})
