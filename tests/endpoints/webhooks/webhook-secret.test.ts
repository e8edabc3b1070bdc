/** GET /v1/webhooks/secret and its rotation. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'

const PATH = '/v1/webhooks/secret'
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

test('200: each account has its own stable secret, encrypted at rest', async () => {
  const [one, two] = [await gateway.tenant(), await gateway.tenant()]
  const first = await gateway.get(PATH, one.key)
  assert.equal(first.status, 200)
  assert.match(first.json.secret, /^whsec_[0-9A-Za-z]{43}$/)
  assert.equal(first.json.previous_valid_until, null)
  assert.equal(first.headers.get('cache-control'), 'no-store')
  assert.equal((await gateway.get(PATH, one.key)).text, first.text)
  assert.notEqual((await gateway.get(PATH, two.key)).json.secret, first.json.secret)
  const [row] = await gateway.sql`select webhook_secret from account where id = ${one.accountId}`
  assert.ok(!row?.webhook_secret.includes(first.json.secret.slice(6)))
})

test('200: concurrent first reads get one secret', async () => {
  const { key } = await gateway.tenant()
  const looks = await Promise.all(Array.from({ length: 10 }, () => gateway.get(PATH, key)))
  assert.equal(new Set(looks.map(({ json }) => json.secret)).size, 1)
})

test('200: a rotation creates a new secret and states how long the old one signs', async () => {
  const { key } = await gateway.tenant()
  const before = (await gateway.get(PATH, key)).json.secret
  const rotated = await gateway.post(`${PATH}/rotate`, key, {})
  assert.equal(rotated.status, 200)
  assert.notEqual(rotated.json.secret, before)
  const hours = (Date.parse(rotated.json.previous_valid_until) - Date.now()) / 3_600_000
  assert.ok(hours > 23.9 && hours < 24.1)
  assert.equal((await gateway.get(PATH, key)).text, rotated.text)
})

test('401 without a key', async () => {
  assert.equal((await gateway.get(PATH, 'tr-junk')).status, 401)
  assert.equal((await gateway.post(`${PATH}/rotate`, 'tr-junk', {})).status, 401)
})
