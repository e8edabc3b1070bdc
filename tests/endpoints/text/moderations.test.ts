/** POST /v1/moderations, black box. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import OpenAI from 'openai'
import { startTestGateway, type TestAnswer, type TestGateway } from '../../support/in-process.ts'
import { testCommonStatuses } from '../common-statuses.ts'

const PATH = '/v1/moderations'
const IMAGE = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

const ask = (input: unknown) => ({ model: 'sim-moderation', input })

/** Adds models beside that of the demo; `name` is their file, which replaces an earlier one. */
async function addModels(name: string, models: object[]) {
  const routes = (upstream: string) => [{ channel: 'sim-openai', upstream_model: upstream }]
  const listed = models.map((one) => ({
    type: 'moderation',
    routes: routes('sim-moderation'),
    ...one,
  }))
  await gateway.apply({ channels: [], models: listed }, name)
}

async function lastSent(): Promise<string> {
  const call = gateway.simulators.calls.list().at(-1)
  return Buffer.from(call?.body_base64 ?? '', 'base64').toString()
}

const linesOf = async (answer: TestAnswer, key: string) => {
  const { lines } = await gateway.record(answer, key)
  return lines.map(({ unit, quantity, amount }) => [unit, quantity, amount])
}

test('200: a result for each text, one for all parts, charged by call', async () => {
  const { key, accountId } = await gateway.tenant()
  const before = await gateway.balance(accountId)
  const inputs = ['a river', ['a river', 'violence'], [{ type: 'text', text: 'violence' }, IMAGE]]
  const flagged = [[false], [false, true], [true]]
  for (const [index, input] of inputs.entries()) {
    const answer = await gateway.post(PATH, key, ask(input))
    assert.equal(answer.status, 200, answer.text)
    const results: { flagged: boolean }[] = answer.json.results
    assert.deepEqual(
      results.map((result) => result.flagged),
      flagged[index],
    )
    assert.deepEqual(await linesOf(answer, key), [['call', 1, '0.0001']])
    const { basis, held, review } = await gateway.record(answer, key)
    assert.deepEqual([basis, held, review], ['usage', '0.0001', false])
  }
  const { available, held } = await gateway.balance(accountId)
  assert.deepEqual([available, held], [before.available - 300_000n, 0n])
})

test('the bytes pass unchanged, but for the model', async () => {
  const { key } = await gateway.tenant()
  const answer = await gateway.post(PATH, key, '{ "input":["\\u0061"] ,"model":"sim-moderation"}')
  assert.equal(answer.status, 200, answer.text)
  assert.equal(await lastSent(), '{ "input":["\\u0061"] ,"model":"sim-moderation"}')
})

test('without a model the only one that the key may call', async () => {
  const { key } = await gateway.tenant()
  const client = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  const answer = await client.moderations.create({ input: 'violence' })
  assert.equal(answer.results[0]?.flagged, true)
  assert.equal(await lastSent(), '{"input":"violence","model":"sim-moderation"}')
  await addModels('second', [{ id: 'second', free: true }])
  const several = await gateway.post(PATH, key, { input: 'a river' })
  assert.equal(several.status, 400)
  assert.equal(several.json.error.message, 'model field is required')
  const one = await gateway.tenant({ key: { models: ['second', 'sim-chat'] } })
  const second = await gateway.post(PATH, one.key, { input: 'a river', model: null })
  assert.equal(second.status, 200, second.text)
  assert.equal((await gateway.get('/v1/usage', one.key)).json.data[0].model, 'second')
  const none = await gateway.tenant({ key: { models: ['sim-chat'] } })
  assert.equal((await gateway.post(PATH, none.key, { input: 'a river' })).status, 400)
  await addModels('second', [])
})

test('a free model has a hold of zero, and a record', async () => {
  await addModels('free', [{ id: 'free-judge', free: true }])
  const { key, accountId } = await gateway.tenant({ balance: '0' })
  const answer = await gateway.post(PATH, key, { model: 'free-judge', input: 'a river' })
  assert.equal(answer.status, 200, answer.text)
  const { status, held, charged, basis } = await gateway.record(answer, key)
  assert.deepEqual([status, held, charged, basis], ['succeeded', '0', '0', 'usage'])
  const holds = await gateway.sql`select state from hold where account_id = ${accountId}`
  assert.equal(holds.length, 1)
  await addModels('free', [])
})

test('by tokens: the stated ones, otherwise a count of the text within the hold', async () => {
  const prices = [{ unit: 'input_token', per: 1, amount: '0.001' }]
  const routes = [{ channel: 'sim-openai', upstream_model: 'sim-moderation-tokens' }]
  await addModels('tokens', [
    { id: 'stating', prices, routes },
    { id: 'silent', prices },
  ])
  const { key } = await gateway.tenant()
  const stated = await gateway.post(PATH, key, { model: 'stating', input: ['a river', 'a sea'] })
  const { prompt_tokens: tokens } = stated.json.usage
  const record = await gateway.record(stated, key)
  assert.deepEqual([record.basis, record.review], ['usage', false])
  assert.equal(Number(record.charged), tokens / 1000)
  const silent = await gateway.post(PATH, key, { model: 'silent', input: 'a river' })
  const estimated = await gateway.record(silent, key)
  assert.equal(estimated.basis, 'estimate')
  // Two words.
  assert.equal(estimated.charged, '0.002')
  assert.ok(Number(estimated.held) > 0.002)
  const image = await gateway.post(PATH, key, { model: 'silent', input: [IMAGE] })
  assert.ok(Number((await gateway.record(image, key)).held) > 1.6, 'an image is held for')
  await addModels('tokens', [])
})

test('400: an input of no known shape, and a refusal of the vendor', async () => {
  const { key } = await gateway.tenant()
  for (const input of [undefined, [], 7, {}, [{}], ['a', 1], [{ type: 7 }]]) {
    const answer = await gateway.post(PATH, key, ask(input))
    assert.equal(answer.status, 400, JSON.stringify(input))
    assert.match(answer.json.error.param, /^input/)
  }
  const refused = await gateway.post(PATH, key, ask([{ type: 'audio' }]))
  assert.equal(refused.status, 400, refused.text)
  assert.equal((await gateway.record(refused, key)).charged, '0')
})

testCommonStatuses(() => gateway, {
  path: PATH,
  body: ask('hello'),
  model: 'sim-moderation',
  envelope: 'nested',
  withWords: (words) => ask(words),
  withModel: (model) => ({ path: PATH, body: { ...ask('hello'), model } }),
})
