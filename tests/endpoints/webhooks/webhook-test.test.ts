/** POST /v1/webhooks/test: sends an example to a receiver of the caller's choice. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'
import { expectedSignature, startReceiver } from '../../webhooks/support.ts'

const PATH = '/v1/webhooks/test'
let gateway: TestGateway
let strict: TestGateway

before(async () => {
  gateway = await startTestGateway({ ALLOW_PRIVATE_TARGETS: 'true' })
  strict = await startTestGateway()
})
after(() => Promise.all([gateway.stop(), strict.stop()]))

test('200: it arrives, signed with the secret of the account', async (t) => {
  const { key } = await gateway.tenant()
  const receiver = await startReceiver(t)
  const answer = await gateway.post(PATH, key, { url: receiver.url })
  assert.deepEqual([answer.status, answer.json.kind, answer.json.task_id], [200, 'test', null])
  const got = await until('the test', () => receiver.received[0])
  const { secret } = (await gateway.get('/v1/webhooks/secret', key)).json
  const timestamp = String(got.headers['x-service-timestamp'])
  const expected = expectedSignature(secret, timestamp, got.body)
  assert.equal(got.headers['x-service-signature'], expected)
  const payload = JSON.parse(got.body.toString())
  assert.deepEqual([payload.kind, payload.status], ['test', 'succeeded'])
})

test('400 for an invalid URL or one that is not allowed', async (t) => {
  const { key } = await strict.tenant()
  const receiver = await startReceiver(t)
  const bodies = [{}, { url: 7 }, { url: 'x' }, 'null', '{', { url: receiver.url }]
  const urls = ['http://localhost/', 'http://169.254.169.254/', 'http://u:p@example.com/']
  for (const body of [...bodies, ...urls.map((url) => ({ url }))]) {
    const answer = await strict.post(PATH, key, body)
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.match(answer.json.error, /^url: /)
  }
  assert.deepEqual((await strict.get('/v1/webhooks/deliveries', key)).json.data, [])
  assert.equal(receiver.received.length, 0)
})

test('401, 413, 415', async () => {
  const { key } = await strict.tenant()
  assert.equal((await strict.post(PATH, 'tr-junk', {})).status, 401)
  assert.equal((await strict.post(PATH, key, ' '.repeat(20_000))).status, 413)
  const form = { 'content-type': 'multipart/form-data; boundary=x' }
  assert.equal((await strict.post(PATH, key, 'x', form)).status, 415)
})

test('429 if too many deliveries are pending', async () => {
  const { key } = await gateway.tenant()
  const url = 'http://127.0.0.1:1/'
  const answers = []
  for (let index = 0; index < 51; index += 1) answers.push(await gateway.post(PATH, key, { url }))
  assert.deepEqual([answers[49]?.status, answers[50]?.status], [200, 429])
  assert.ok(answers[50]?.headers.get('retry-after'))
})
