/** Other models that serve a call: by the model's routes, and by the caller's list. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { startTestGateway, type TestGateway } from '../support/in-process.ts'
import { startServer } from '../support/servers/local-server.ts'

const CHAT = '/v1/chat/completions'
const SERVED = 'x-tributary-model'
let gateway: TestGateway

const priced = (amount: string) => [
  { unit: 'input_token', per: 1, amount: '0' },
  { unit: 'output_token', per: 1, amount },
]
const limits = { max_output_tokens: 100 }

before(async () => {
  gateway = await startTestGateway()
  const channel = (id: string, path: string, api_key: string) => ({
    id,
    upstream: 'openai-compatible',
    settings: { base_url: `${gateway.simulators.url}${path}`, api_key },
  })
  const main = { channel: 'main', upstream_model: 'sim-chat' }
  const closed = { channel: 'closed', upstream_model: 'sim-chat' }
  const chat = (id: string, amount: string, routes: object[], more: object = {}) => {
    return { id, type: 'chat', prices: priced(amount), routes, limits, ...more }
  }
  await gateway.apply({
    channels: [
      channel('main', '/openai/v1', 'sim-openai-key'),
      channel('second', '/ark/api/v3', 'sim-ark-key'),
      {
        id: 'closed',
        upstream: 'openai-compatible',
        settings: { base_url: 'http://127.0.0.1:9', api_key: 'x' },
      },
    ],
    models: [
      chat('cheap', '0.001', [main]),
      chat('dear', '0.01', [{ channel: 'second', upstream_model: 'sim-ark-chat' }]),
      chat('down', '0.005', [closed]),
      chat('rescued', '0.005', [closed, { model: 'dear', priority: 1 }]),
      chat('rescued-late', '0.005', [
        closed,
        { model: 'dear', priority: 2 },
        { model: 'down', priority: 1 },
      ]),
      chat('guarded', '0.005', [main, { model: 'dear' }]),
      chat('alias', '0.005', [{ model: 'cheap' }]),
      chat('busy', '0.001', [main], { limits: { ...limits, requests_per_minute: 1 } }),
      chat('down-then-busy', '0.001', [closed, { model: 'busy' }]),
      chat('router', '0.001', [main], {
        prices: [
          ...priced('0.001'),
          ...priced('0.002').map((one) => ({ ...one, when: { model: 'sim-other' } })),
        ],
      }),
    ],
  })
})
after(() => gateway.stop())

const body = (model: string | undefined, words = '[[tokens:10]]', more: object = {}) => ({
  ...(model === undefined ? {} : { model }),
  messages: [{ role: 'user', content: words }],
  ...more,
})

interface Record {
  readonly model: string
  readonly served_model: string
  readonly price_version: string
}

async function explain(answer: { headers: Headers }, key: string) {
  const record = await gateway.record(answer, key)
  return record as typeof record & Record
}

test('a route to another model serves at its price, in a header and in the record', async () => {
  for (const stream of [false, true]) {
    const { key } = await gateway.tenant()
    const answer = await gateway.post(CHAT, key, body('rescued', '[[tokens:10]]', { stream }))
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.headers.get(SERVED), 'dear')
    const record = await explain(answer, key)
    assert.equal(record.charged, '0.1')
    assert.deepEqual([record.model, record.served_model], ['rescued', 'dear'])
    const [row] = await gateway.sql<{ version: string }[]>`
      select price_version::text as version from model where id = 'dear'`
    assert.equal(record.price_version, row?.version)
    assert.equal(record.attempts.at(-1)?.channel, 'second')
    assert.equal(record.status, 'succeeded')
  }
})

test('a model that works serves itself, under a hold for the dearest', async () => {
  const { key, accountId } = await gateway.tenant({ balance: '1' })
  const answer = await gateway.post(CHAT, key, body('guarded'))
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.headers.get(SERVED), 'guarded')
  const record = await explain(answer, key)
  assert.deepEqual([record.held, record.charged, record.served_model], ['1', '0.05', 'guarded'])
  const { available, held } = await gateway.balance(accountId)
  assert.deepEqual([available, held], [950_000_000n, 0n])
  const poor = await gateway.tenant({ balance: '0.9' })
  assert.equal((await gateway.post(CHAT, poor.key, body('guarded'))).status, 402)
})

test('fallbacks are tried by priority, each with its own attempts', async () => {
  const { key } = await gateway.tenant()
  const answer = await gateway.post(CHAT, key, body('rescued-late'))
  assert.equal(answer.status, 200, answer.text)
  const { attempts, served_model: served } = await explain(answer, key)
  const tried = attempts.map((one) => [one.channel, (one as { model?: string }).model])
  assert.equal(served, 'dear')
  assert.deepEqual(tried.slice(0, 1), [['closed', undefined]])
  assert.deepEqual(new Set(tried.map(([, model]) => model)), new Set([undefined, 'down', 'dear']))
})

test('a model with routes to other models alone is an alias', async () => {
  const { key } = await gateway.tenant()
  const answer = await gateway.post(CHAT, key, body('alias'))
  assert.equal(answer.status, 200, answer.text)
  assert.equal((await explain(answer, key)).charged, '0.01')
})

test('a caller lists models, in each dialect, with and without a first one', async () => {
  const { key } = await gateway.tenant()
  const version = { 'anthropic-version': '2023-06-01' }
  const models = ['down', 'dear', 'cheap']
  const cases: readonly (readonly [string, object, object?])[] = [
    [CHAT, body(undefined, '[[tokens:10]]', { models })],
    [CHAT, body('down', '[[tokens:10]]', { models: ['down', 'dear'], route: 'fallback' })],
    [CHAT, body('down', '[[tokens:10]]', { models: ['dear'], stream: true })],
    ['/v1/messages', body('down', '[[tokens:10]]', { models: ['dear'], max_tokens: 100 }), version],
  ]
  for (const [path, sent, headers = {}] of cases) {
    const answer = await gateway.post(path, key, sent, headers)
    assert.equal(answer.status, 200, `${path}: ${answer.text}`)
    assert.equal(answer.headers.get(SERVED), 'dear', path)
    const record = await explain(answer, key)
    assert.deepEqual([record.model, record.charged], ['down', '0.1'], path)
  }
  const responses = { models: ['down', 'cheap'], input: '[[tokens:10]]' }
  const answer = await gateway.post('/v1/responses', key, responses)
  assert.equal(answer.status, 200, answer.text)
  assert.equal((await explain(answer, key)).charged, '0.01')
})

test('a refused request goes on only to models that the caller lists', async () => {
  const { key } = await gateway.tenant()
  const words = '[[fault:status=400;only=openai]][[tokens:10]]'
  const listed = await gateway.post(CHAT, key, body('cheap', words, { models: ['dear'] }))
  assert.equal(listed.status, 200, listed.text)
  assert.equal(listed.headers.get(SERVED), 'dear')
  assert.equal((await gateway.post(CHAT, key, body('guarded', words))).status, 400)
})

test('no other model after an unknown outcome', async () => {
  const { key, accountId } = await gateway.tenant()
  const before = await gateway.balance(accountId)
  const words = '[[fault:reset-before-head]] hi'
  const answer = await gateway.post(CHAT, key, body('cheap', words, { models: ['dear'] }))
  assert.equal(answer.status, 502)
  assert.deepEqual(await gateway.balance(accountId), before)
})

test('an estimate is bounded by what its own model would have held', async () => {
  const { key } = await gateway.tenant()
  const words = '[[tokens:400]][[fault:usage=absent]]'
  const answer = await gateway.post(CHAT, key, body('cheap', words, { models: ['dear'] }))
  assert.equal(answer.status, 200, answer.text)
  const { basis, charged, held } = await explain(answer, key)
  assert.deepEqual([basis, charged, held], ['estimate', '0.1', '1'])
})

test('lists that cannot be used are a 400 or 403 with the field, and nothing is held', async () => {
  const { key, accountId } = await gateway.tenant()
  const refused = async (sent: object, status: number, param: string, who = key) => {
    const answer = await gateway.post(CHAT, who, sent)
    assert.equal(answer.status, status, `${JSON.stringify(sent)}: ${answer.text}`)
    assert.equal(answer.json.error.param, param, answer.text)
  }
  await refused(body('cheap', 'hi', { models: ['nowhere'] }), 400, 'models[0]')
  await refused(body('cheap', 'hi', { models: ['dear', 7] }), 400, 'models[1]')
  await refused(body('cheap', 'hi', { models: [''] }), 400, 'models[0]')
  await refused(body('cheap', 'hi', { models: ['sim-embedding'] }), 400, 'models[0]')
  await refused(body(undefined, 'hi', { models: [] }), 400, 'models')
  await refused(body('cheap', 'hi', { models: 'dear' }), 400, 'models')
  await refused(body('cheap', 'hi', { models: Array(9).fill('dear') }), 400, 'models')
  const narrow = await gateway.tenant({ key: { models: ['cheap', 'rescued'] } })
  await refused(body('cheap', 'hi', { models: ['dear'] }), 403, 'models[0]', narrow.key)
  // The operator's own fallback is left out for a key that may not call it.
  assert.equal((await gateway.post(CHAT, narrow.key, body('rescued'))).status, 502)
  const background = { model: 'cheap', models: ['dear'], input: 'hi', background: true }
  const task = await gateway.post('/v1/responses', key, background)
  assert.deepEqual([task.status, task.json.error.param], [400, 'models'])
  const [row] = await gateway.sql<{ holds: number }[]>`
    select count(*)::int as holds from hold where account_id = ${accountId}`
  assert.equal(row?.holds, 0)
})

test('models: null and an empty list beside a model change nothing', async () => {
  const { key } = await gateway.tenant()
  for (const models of [null, [], ['cheap']]) {
    const answer = await gateway.post(CHAT, key, body('cheap', 'hi', { models }))
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.headers.get(SERVED), null)
  }
})

test('a fallback at another channel serves every call of a model that is down', async () => {
  const CALLS = 20
  const waiting: ServerResponse[] = []
  let ended = 0
  // Answers once every call is either here or refused, so that all of them run at the same time.
  const answerAll = () => {
    if (waiting.length + ended < CALLS) return
    const message = { role: 'assistant', content: 'hi' }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
    const answer = JSON.stringify({ id: 'c', object: 'chat.completion', choices, usage })
    for (const response of waiting.splice(0)) {
      ended += 1
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
    }
  }
  const vendor = await startServer((request, response) => {
    request.resume()
    waiting.push(response)
    answerAll()
  })
  const settings = { base_url: vendor.url, api_key: 'x' }
  const routes = [{ channel: 'slow', upstream_model: 'slow' }]
  await gateway.apply(
    {
      channels: [{ id: 'slow', upstream: 'openai-compatible', settings }],
      models: [{ id: 'slow', type: 'chat', prices: priced('0.001'), routes, limits }],
    },
    'slow',
  )
  const { key } = await gateway.tenant()
  const statuses = await Promise.all(
    Array.from({ length: CALLS }, async () => {
      const { status } = await gateway.post(CHAT, key, body('down', 'hi', { models: ['slow'] }))
      if (status !== 200) ended += 1
      answerAll()
      return status
    }),
  )
  await vendor.stop()
  assert.deepEqual(statuses, Array(CALLS).fill(200))
})

test('the header names the model where the first one has no channel to be called', async () => {
  const { key } = await gateway.tenant()
  const answer = await gateway.post(CHAT, key, body('alias'))
  assert.equal(answer.headers.get(SERVED), 'cheap')
})

test('the limits of a model hold for it as a fallback too', async () => {
  const { key } = await gateway.tenant()
  assert.equal((await gateway.post(CHAT, key, body('down-then-busy'))).status, 200)
  assert.equal((await gateway.post(CHAT, key, body('down-then-busy'))).status, 502)
})

test('the list of a model that routes by itself reaches it, at the prices of its own', async () => {
  const { key } = await gateway.tenant()
  const answer = await gateway.post(CHAT, key, body('router', 'hi', { models: ['elsewhere'] }))
  assert.equal(answer.status, 400)
  assert.match(answer.json.error.message, /^models\[0\]: /)
  const known = await gateway.post(CHAT, key, body('router', 'hi', { models: ['sim-other'] }))
  assert.doesNotMatch(known.text, /no price/)
})

test('a catalog refuses routes to models that cannot stand in', async () => {
  const apply = (routes: object[]) =>
    gateway.apply({ models: [{ id: 'new', type: 'chat', prices: priced('1'), routes }] }, 'new')
  await assert.rejects(apply([{ model: 'nowhere' }]), /there is no model "nowhere"/)
  await assert.rejects(apply([{ model: 'sim-embedding' }]), /is of the type embedding/)
  await assert.rejects(apply([{ model: 'new' }]), /cannot stand in for itself/)
  await assert.rejects(apply([{ model: 'alias' }]), /no route to a channel of its own/)
  await assert.rejects(
    apply([{ model: 'dear', channel: 'main' }]),
    /cannot be combined with "model"/,
  )
  await assert.rejects(apply([{ priority: 1 }]), /routes\[0\]\.channel/)
  await assert.rejects(apply([{ model: 'dear' }, { model: 'dear' }]), /another route/)
})

test('the books agree', async () => {
  assert.equal((await audit(gateway.sql)).ok, true)
})
