/** GET /v1/balance, black box. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'

let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

test('200: amounts are decimal strings, and a charge is seen at once', async () => {
  const { key } = await gateway.tenant({ balance: '12.5' })
  const before = await gateway.get('/v1/balance', key)
  assert.equal(before.status, 200)
  assert.deepEqual(before.json, { currency: 'CNY', available: '12.5', held: '0', debt: '0' })
  const search = await gateway.post('/v1/search', key, { Type: 'web', Query: 'q' })
  const { charged } = await gateway.record(search, key)
  const after = await gateway.get('/v1/balance', key)
  assert.equal(Number(after.json.available), 12.5 - Number(charged))
  assert.equal(after.json.held, '0')
})

test('401 without a key, 405 with another method', async () => {
  assert.equal((await gateway.get('/v1/balance', 'tr-nobody')).status, 401)
  const { key } = await gateway.tenant()
  assert.equal((await gateway.post('/v1/balance', key, {})).status, 405)
})

test('403 for a suspended account', async () => {
  const { key, accountId } = await gateway.tenant()
  assert.equal((await gateway.get('/v1/balance', key)).status, 200)
  await gateway.sql`update account set status = 'suspended' where id = ${accountId}`
  await until('the refusal', async () => (await gateway.get('/v1/balance', key)).status === 403)
})
