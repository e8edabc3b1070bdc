/** Several routes to one model: which failures are retried, and the attempts in the record. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../support/in-process.ts'

const PATH = '/v1/chat/completions'
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
  const { url } = gateway.simulators
  const prices = [{ unit: 'output_token', per: 1, amount: '0.001' }]
  const routes = ['first', 'second'].map((channel, priority) => ({
    channel,
    upstream_model: 'sim-chat',
    priority,
  }))
  await gateway.apply({
    channels: [
      channel('first', `${url}/openai/v1`, 'sim-openai-key'),
      channel('second', `${url}/ark/api/v3`, 'sim-ark-key'),
      channel('closed', 'http://127.0.0.1:9', 'x'),
      channel('refused', `${url}/openai/v1`, 'a-wrong-key'),
    ],
    models: [
      { id: 'two', type: 'chat', prices, routes },
      { id: 'closed-first', type: 'chat', prices, routes: through('closed', 'first') },
      { id: 'refused-first', type: 'chat', prices, routes: through('refused', 'first') },
      {
        id: 'cheapest',
        type: 'chat',
        prices,
        routing: 'cheapest',
        routes: [{ channel: 'refused', upstream_model: 'sim-chat' }, ...routes].map((one) => {
          const amount = { first: '0.0004', second: '0.0003' }[one.channel]
          return amount ? { ...one, costs: [{ unit: 'output_token', per: 1, amount }] } : one
        }),
      },
      { id: 'one', type: 'chat', prices, routes: through('first') },
      { id: 'only-closed', type: 'chat', prices, routes: through('closed') },
    ],
  })
})
after(() => gateway.stop())

function channel(id: string, baseUrl: string, apiKey: string) {
  return { id, upstream: 'openai-compatible', settings: { base_url: baseUrl, api_key: apiKey } }
}

function through(...channels: string[]) {
  return channels.map((name, priority) => ({
    channel: name,
    upstream_model: 'sim-chat',
    priority,
  }))
}

const chatBody = (words: string, model = 'two') => ({
  model,
  messages: [{ role: 'user', content: words }],
})

async function outcomes(answer: { headers: Headers }, key: string) {
  const record = await gateway.record(answer, key)
  return { record, tried: record.attempts.map((one) => [one.channel, one.outcome]) }
}

test('after a failure the next route is tried, and the record has both attempts', async () => {
  const { key } = await gateway.tenant()
  for (const stream of [false, true]) {
    const body = { ...chatBody('[[fault:status=500;only=openai]] hi'), stream }
    const answer = await gateway.post(PATH, key, body)
    assert.equal(answer.status, 200, answer.text)
    const { record, tried } = await outcomes(answer, key)
    assert.equal(record.status, 'succeeded')
    assert.deepEqual(tried.at(-1), ['second', 'answered'])
  }
})

test('the cheapest route is tried first, then the next, and one of unknown cost last', async () => {
  const { key } = await gateway.tenant()
  const tried = async (words: string) => {
    return (await outcomes(await gateway.post(PATH, key, chatBody(words, 'cheapest')), key)).tried
  }
  assert.deepEqual(await tried('hi'), [['second', 'answered']])
  assert.deepEqual(await tried('[[fault:status=500;only=ark]] hi'), [
    ['second', 'failed'],
    ['first', 'answered'],
  ])
  const all = await tried('[[fault:status=500]] hi')
  assert.deepEqual(all.at(-1)?.[0], 'refused')
})

test('an error with status 200 before any content is a failure too', async () => {
  const { key } = await gateway.tenant()
  const answer = await gateway.post(PATH, key, chatBody('[[fault:error-200;only=openai]] hi'))
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual((await outcomes(answer, key)).tried.at(-1), ['second', 'answered'])
})

test('no retry after an unknown outcome: the vendor may have done the work', async () => {
  const { key, accountId } = await gateway.tenant()
  const before = await gateway.balance(accountId)
  const answer = await gateway.post(PATH, key, chatBody('[[fault:reset-before-head]] hi'))
  assert.equal(answer.status, 502)
  const { record, tried } = await outcomes(answer, key)
  assert.equal(tried.length, 1)
  assert.equal(tried[0]?.[1], 'unknown')
  assert.equal(record.charged, '0')
  assert.deepEqual(await gateway.balance(accountId), before)
})

test('an unsent request and a wrong key are retried by another route', async () => {
  const { key } = await gateway.tenant()
  const closed = await gateway.post(PATH, key, chatBody('hi', 'closed-first'))
  assert.equal(closed.status, 200)
  assert.deepEqual((await outcomes(closed, key)).tried[0], ['closed', 'not_sent'])
  const refused = await gateway.post(PATH, key, chatBody('hi', 'refused-first'))
  assert.equal(refused.status, 200)
  assert.deepEqual((await outcomes(refused, key)).tried[0], ['refused', 'channel_fault'])
})

test('at most three attempts, even if nothing was sent', async () => {
  const { key } = await gateway.tenant()
  const answer = await gateway.post(PATH, key, chatBody('hi', 'only-closed'))
  assert.equal(answer.status, 502)
  assert.equal((await outcomes(answer, key)).tried.length, 3)
})

test('a rejected request is not retried', async () => {
  const { key } = await gateway.tenant()
  const answer = await gateway.post(PATH, key, chatBody('[[fault:status=400]] hi'))
  assert.equal(answer.status, 400)
  assert.equal((await outcomes(answer, key)).tried.length, 1)
})

test('a vendor’s 429 without another route is a 429 with its Retry-After', async () => {
  const { key } = await gateway.tenant()
  const answer = await gateway.post(PATH, key, chatBody('[[fault:status=429;retry-after=7]] hi'))
  assert.equal(answer.status, 429)
  assert.equal(answer.headers.get('retry-after'), '7')
})

test('a 404 for an object that the request names is a rejection, not a channel fault', async () => {
  const { key } = await gateway.tenant()
  for (const [code, status, outcome] of [
    ['file_not_found', 400, 'rejected'],
    ['previous_response_not_found', 400, 'rejected'],
    ['model_not_found', 502, 'channel_fault'],
    ['InvalidEndpointOrModel.NotFound', 502, 'channel_fault'],
  ] as const) {
    const words = `[[fault:status=400;error-code=${code}]] hi`
    const answer = await gateway.post(PATH, key, chatBody(words, 'one'))
    assert.equal(answer.status, status, code)
    assert.equal((await outcomes(answer, key)).tried[0]?.[1], outcome)
  }
})
