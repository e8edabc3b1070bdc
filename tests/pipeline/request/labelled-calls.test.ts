/** Calls are recorded under the tags and the end user that they have, and found by them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'

const CHAT = '/v1/chat/completions'
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

const chat = (more: object = {}) => ({
  model: 'sim-chat',
  max_tokens: 16,
  messages: [{ role: 'user', content: 'hi' }],
  ...more,
})

test('a call has the tags of its key and its own, and its end user', async () => {
  const labels = { tags: ['web'], allow_tags: true }
  const { key, accountId } = await gateway.tenant({ key: { labels } })
  const plain = await gateway.post(CHAT, key, chat())
  const tagged = await gateway.post(CHAT, key, chat({ user: 'u1' }), { 'x-tags': 'a' })
  const record = await gateway.record(tagged, key)
  assert.deepEqual([record.tags, record.end_user], [['web', 'a'], 'u1'])
  const { tags, end_user: endUser } = await gateway.record(plain, key)
  assert.deepEqual([tags, endUser], [['web'], null])
  const ids = async (query: string) => {
    const { json } = await gateway.get(`/v1/usage?${query}`, key)
    return json.data.map((one: { request_id: string }) => one.request_id)
  }
  const [first, second] = [plain, tagged].map(({ headers }) => headers.get('x-request-id'))
  assert.deepEqual(await ids('tag=web'), [second, first])
  assert.deepEqual(await ids('tag=a&end_user=u1'), [second])
  assert.deepEqual(await ids('end_user=u1'), [second])
  for (const query of ['tag=A', 'tag=b', 'tag=web&end_user=u2', `tag=${accountId}`]) {
    assert.deepEqual(await ids(query), [], query)
  }
})

test('a tag that is required and absent is a 400 before any hold', async () => {
  const { key } = await gateway.tenant({ key: { labels: { required_tags: ['team'] } } })
  const refused = await gateway.post(CHAT, key, chat())
  assert.equal(refused.status, 400)
  assert.equal(refused.json.error.code, 'tag_required')
  const stated = await gateway.post(CHAT, key, chat(), { 'x-tags': 'team:blue' })
  assert.deepEqual((await gateway.record(stated, key)).tags, ['team:blue', 'team'])
})

test('a key can have the charge in every answer, but adds no event to a stream', async () => {
  const { key } = await gateway.tenant({ key: { labels: { cost_in_answers: true } } })
  const whole = await gateway.post(CHAT, key, chat())
  assert.equal(whole.json.usage.cost, Number((await gateway.record(whole, key)).charged))
  const options = { stream_options: { include_usage: true } }
  const stream = await gateway.post(CHAT, key, chat({ stream: true, ...options }))
  assert.match(stream.text, /"cost":0\.\d+/)
  const without = await gateway.post(CHAT, key, chat({ stream: true }))
  assert.doesNotMatch(without.text, /"usage":\{/)
})
