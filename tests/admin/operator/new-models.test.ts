/** A channel's models over the admin API: the vendor's list, and adding several at once. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type AdminStage, startAdmin } from '../support.ts'

const AS = { as: 'boss' }
const PRICES = [
  { unit: 'input_token', per: 1_000_000, amount: '1' },
  { unit: 'output_token', per: 1_000_000, amount: '2' },
]
const LIST = 'GET /operator/channels/:channel_id/models'
const ADD = 'POST /operator/models'

describe('new models', { concurrency: false }, () => {
  let stage: AdminStage
  before(async () => {
    stage = await startAdmin()
    stage.enterOperator('boss')
    stage.enterOperator('tired', false)
  })
  after(() => stage.stop())

  const save = (id: string, upstream: string, settings: object) =>
    stage.read('PUT /operator/channels/:channel_id', {
      ...AS,
      params: { channel_id: id },
      body: { upstream, settings },
    })
  const list = (id: string) => stage.read(LIST, { ...AS, params: { channel_id: id } })
  const model = (id: string, more: object = {}) => ({
    id,
    type: 'chat',
    prices: PRICES,
    routes: [{ channel: 'own', upstream_model: 'sim-chat' }],
    ...more,
  })

  test('they are listed with the channel’s key, which no answer contains', async () => {
    const url = stage.simulators.url
    await save('own', 'openai-compatible', {
      base_url: `${url}/openai/v1`,
      api_key: 'sim-openai-key',
    })
    const found = await list('own')
    assert.deepEqual([found.ok, found.detail], [true, `${url}/openai/v1/models`])
    assert.ok(found.models.length > 0)
    const claude = { base_url: `${url}/anthropic`, api_key: 'sim-anthropic-key' }
    await save('own-claude', 'anthropic', claude)
    const others = await list('own-claude')
    assert.ok(others.ok && others.models.length > 0, others.detail)
    assert.ok(!JSON.stringify([found, others]).includes('sim-openai-key'))
  })

  test('a wrong address or key, and a protocol without a list, are explained', async () => {
    const url = stage.simulators.url
    await save('wrong', 'openai-compatible', {
      base_url: `${url}/openai`,
      api_key: 'sim-openai-key',
    })
    assert.match((await list('wrong')).detail, /^nothing is at .*\/openai\/models and /)
    await save('wrong', 'openai-compatible', { base_url: `${url}/openai/v1`, api_key: 'sk-canary' })
    const { detail } = await list('wrong')
    assert.match(detail, /^the vendor refuses the key \(401\)/)
    await save('film', 'ark', { base_url: `${url}/ark/api/v3`, api_key: 'k' })
    const film = await list('film')
    assert.deepEqual([film.ok, film.detail], [false, 'this protocol has no list of models'])
    const none = await stage.ask(LIST, { ...AS, params: { channel_id: 'nowhere' } })
    assert.equal(none.status, 404)
    const { data } = await stage.read('GET /operator/upstreams', AS)
    const listing = data.filter((one) => one.lists_models).map(({ name }) => name)
    const clouds = ['bedrock', 'anthropic-vertex', 'gemini']
    assert.deepEqual(listing, ['openai-compatible', 'anthropic', ...clouds])
  })

  test('every mistake is named before a step-up, and nothing is recorded', async () => {
    const rows = stage.audited.length
    const dear = [{ ...PRICES[0], amount: 'dear' }, PRICES[1]]
    const models = [
      model('sim-chat'),
      model('bad id', { prices: dear }),
      model('lost', { routes: [{ channel: 'nowhere' }], prices: [{ ...PRICES[0], amount: '' }] }),
    ]
    const body = { currency: 'DOL', models }
    const answer = await stage.ask(ADD, { as: 'tired', body })
    assert.equal(answer.status, 400, answer.text)
    const params = JSON.parse(answer.text).problems.map(({ param }: { param: string }) => param)
    const expected = [
      'models[0].id',
      'currency',
      'models[1].id',
      'models[1].prices[0].amount',
      'models[2].prices[0].amount',
    ]
    assert.deepEqual(params.toSorted(), expected.toSorted())
    const lost = [model('new'), model('lost', { routes: [{ channel: 'nowhere' }] })]
    const second = await stage.ask(ADD, { as: 'tired', body: { models: lost } })
    assert.equal(JSON.parse(second.text).param, 'models[1].routes[0].channel')
    assert.equal(stage.audited.length, rows)
    const valid = { models: [model('new')] }
    assert.equal((await stage.ask(ADD, { as: 'tired', body: valid })).status, 403)
  })

  test('all are added, or none; a model for sale is never changed', async () => {
    const count = async () => (await stage.read('GET /operator/models', AS)).data.length
    const before = await count()
    const half = await stage.ask(ADD, {
      ...AS,
      body: { models: [model('new'), model('sim-chat')] },
    })
    assert.equal(half.status, 409)
    assert.match(half.text, /there is a model \\"sim-chat\\" already/)
    assert.equal(await count(), before)
    const body = { currency: 'USD', models: [model('own/a'), model('own/b')] }
    const { data } = await stage.read(ADD, { ...AS, body })
    assert.deepEqual(
      data.map(({ id, currency, source }) => [id, currency, source]),
      [
        ['own/a', 'USD', 'console:own/a'],
        ['own/b', 'USD', 'console:own/b'],
      ],
    )
    assert.equal(stage.audited.at(-1)?.details?.models, 'own/a, own/b')
    // Adding one of its request's models again, alone, retires none of the others.
    const gone = 'DELETE /operator/models/:model_id'
    await stage.ask(gone, { ...AS, params: { model_id: 'own/a' } })
    await stage.read(ADD, { ...AS, body: { models: [model('own/a')] } })
    assert.equal(await count(), before + 2)
  })
})
