/** Costs and planned prices over the admin API: operators see them, customers never. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ADMIN_CONTRACT } from '../../server/api/admin/contract.ts'
import type { Contract } from '../../server/api/admin/route.ts'
import { ENDPOINTS } from '../../server/api/endpoints/index.ts'
import { describeAnswer } from '../../server/api/endpoints/reference/json-schema.ts'
import type { Tenant } from '../support/in-process.ts'
import { type AdminStage, startAdmin } from './support.ts'

const AS = { as: 'boss' }
/** An amount that occurs nowhere else. */
const CANARY = '7.193846257'
const price = (amount: string, unit = 'call') => [{ unit, per: 1, amount }]
const messages = [{ role: 'user', content: 'Hello' }]

/** A key's setting: its answers state the charge as `usage.cost`. */
const OWN_CHARGE = 'cost_in_answers'

/** Names of members, at any depth of a schema. */
function* namesIn(schema: unknown): Generator<string> {
  if (typeof schema !== 'object' || schema === null) return
  for (const [name, value] of Object.entries(schema)) {
    if (name === 'properties') yield* Object.keys(value)
    yield* namesIn(value)
  }
}

test('no schema of a response to customers names a cost or a margin', () => {
  const contract: Contract = ADMIN_CONTRACT
  const routes = Object.entries(contract).filter(([, { role }]) => role !== 'operator')
  const answers = [
    ...routes.map(([key, { answer }]) => [key, answer] as const),
    ...ENDPOINTS.flatMap(({ paths, documentation }) =>
      'answer' in documentation ? [[paths[0], documentation.answer] as const] : [],
    ),
  ]
  assert.ok(answers.length > 80)
  const told = answers.flatMap(([key, answer]) =>
    answer && 'parse' in answer
      ? [...namesIn(describeAnswer(answer))]
          .filter((name) => /cost|margin|loss/.test(name) && name !== OWN_CHARGE)
          .map((name) => `${key}: ${name}`)
      : [],
  )
  assert.deepEqual(told, [])
})

describe('costs', { concurrency: false }, () => {
  let stage: AdminStage
  let house: Tenant
  before(async () => {
    stage = await startAdmin()
    stage.enterOperator('boss')
    stage.enterOperator('tired', false)
    house = await stage.house('home', '1000')
  })
  after(() => stage.stop())

  const put = (id: string, prices: object[], costs?: object[]) =>
    stage.read('PUT /operator/models/:model_id', {
      ...AS,
      params: { model_id: id },
      body: {
        type: 'chat',
        prices,
        routes: [
          { channel: 'sim-openai', upstream_model: 'sim-chat', ...(costs ? { costs } : {}) },
        ],
      },
    })
  const call = (model: string) => stage.post('/v1/chat/completions', house.key, { model, messages })

  test('a model lists its margins by unit, and the problems of its prices', async () => {
    const known = await put('earns', price('10'), price('7.5'))
    assert.deepEqual(known.margins, [
      {
        channel: 'sim-openai',
        upstream_model: 'sim-chat',
        unit: 'call',
        per: 1,
        price: '10',
        upstream_cost: '7.5',
        margin: '2.5',
        margin_share: 0.25,
      },
    ])
    assert.deepEqual(known.price_problems, [])
    const loss = await put('loses', price('5'), price(CANARY))
    assert.deepEqual(loss.price_problems, [
      { problem: 'below_cost', unit: 'call', channel: 'sim-openai' },
    ])
    const token = { unit: 'output_token', per: 1000, amount: '1' }
    const unpriced = await put('forgets', price('5'), [...price('1'), token])
    assert.deepEqual(unpriced.price_problems, [
      { problem: 'unpriced', unit: 'output_token', channel: null },
    ])
    const unknown = await put('unknown', price('4'))
    assert.deepEqual(unknown.price_problems, [
      { problem: 'unknown_cost', unit: null, channel: 'sim-openai' },
    ])
    assert.equal(unknown.margins[0]?.margin, null)
  })

  test('a model whose cheapest route comes first says so, and why', async () => {
    const params = { model_id: 'thrifty' }
    const route = { channel: 'sim-openai', upstream_model: 'sim-chat' }
    const body = {
      type: 'chat',
      prices: price('9'),
      routing: 'cheapest',
      routes: [
        { ...route, channel: 'sim-ark' },
        { ...route, costs: price('2') },
      ],
    }
    const key = 'PUT /operator/models/:model_id'
    const saved = await stage.read(key, { ...AS, params, body })
    const order = [
      ['sim-openai', '2', 'cost', true],
      ['sim-ark', null, 'unknown_cost', true],
    ]
    const orderOf = ({ route_order: rows }: typeof saved) =>
      rows.map((one) => [one.channel, one.expected_cost, one.because, one.is_usable])
    assert.deepEqual(orderOf(saved), order)
    assert.equal(saved.routing, 'cheapest')
    assert.match(saved.warnings.join(), /the costs of some routes are not known/)
    const { routing: _, ...plain } = body
    const changed = await stage.read(key, { ...AS, params, body: plain })
    assert.equal(changed.routing, 'priority')
    assert.deepEqual(orderOf(changed)[0], ['sim-ark', null, 'weight', true])
  })

  test('revenue, cost and margin by model, by channel and over time; the rest is unknown', async () => {
    for (const model of ['earns', 'loses', 'unknown']) assert.equal((await call(model)).status, 200)
    const overview = await stage.read('GET /operator/overview', AS)
    const [currency] = overview.currencies
    const expected = {
      calls: 3,
      errors: 0,
      revenue: '19',
      upstream_cost: '14.693846257',
      uncosted: '4',
      uncosted_share: 0.2105,
      margin: '0.306153743',
      margin_share: 0.0204,
    }
    const pick = (row: object | undefined) =>
      Object.fromEntries(
        Object.entries(row ?? {}).filter(([name]) => Object.hasOwn(expected, name)),
      )
    assert.deepEqual(pick(currency), expected)
    assert.deepEqual(pick(overview.series[0]), expected)
    assert.deepEqual(pick(overview.accounts[0]), expected)
    assert.deepEqual(
      overview.by_channel.map((row) => [row.channel, pick(row)]),
      [['sim-openai', expected]],
    )
    assert.deepEqual(
      overview.models.map(({ model, margin, margin_share: share }) => [model, margin, share]),
      [
        ['earns', '2.5', 0.25],
        ['loses', '-2.193846257', -0.4387],
        ['unknown', null, null],
      ],
    )
  })

  test('calls state cost and margin, and those at a loss are filtered', async () => {
    const { data } = await stage.read('GET /operator/calls', AS)
    assert.deepEqual(
      data.map(({ model, upstream_cost, margin }) => [model, upstream_cost, margin]),
      [
        ['unknown', null, null],
        ['loses', CANARY, '-2.193846257'],
        ['earns', '7.5', '2.5'],
      ],
    )
    const losses = await stage.read('GET /operator/calls', { ...AS, query: { loss: 'true' } })
    assert.deepEqual(
      losses.data.map(({ model }) => model),
      ['loses'],
    )
  })

  test('no response to a customer contains a cost', async () => {
    const contract: Contract = ADMIN_CONTRACT
    const called = await call('loses')
    const id = called.headers.get('x-request-id') ?? ''
    const own = Object.entries(contract).filter(
      ([key, { role, answerType }]) =>
        key.startsWith('GET /accounts') &&
        role !== 'operator' &&
        answerType !== 'text/event-stream',
    )
    let good = 0
    for (const [key] of own) {
      const params = { account_id: house.accountId, request_id: id, model_id: 'loses' }
      const { status, text } = await stage.ask(key as 'GET /accounts/:account_id/usage', {
        as: 'home-owner',
        params,
      })
      if (status === 200) good += 1
      assert.ok(!text.includes(CANARY), key)
    }
    assert.ok(good > 15, `only ${good} routes answered`)
    for (const path of [
      '/v1/models',
      '/v1/models/loses',
      '/v1/usage',
      `/v1/usage/${id}`,
      '/v1/balance',
    ]) {
      const { status, text } = await stage.get(path, house.key)
      assert.equal(status, 200, path)
      assert.ok(!text.includes(CANARY), path)
    }
    assert.ok(!called.text.includes(CANARY))
  })

  test('prices are planned, listed and withdrawn, hidden from customers', async () => {
    const params = { model_id: 'earns' }
    const plan = 'POST /operator/models/:model_id/planned-prices'
    const at = '2199-01-01T00:00:00.000Z'
    const body = { effective_from: '2199-01-01T08:00:00+08:00', prices: price('6') }
    assert.equal((await stage.ask(plan, { as: 'tired', params, body })).status, 403)
    await stage.read(plan, { ...AS, params, body: { ...body, prices: price('9') } })
    const planned = await stage.read(plan, { ...AS, params, body })
    const [only, ...others] = planned.planned_prices
    assert.deepEqual([others, only?.effective_from, only?.prices], [[], at, price('6')])
    assert.deepEqual(only?.price_problems[0]?.problem, 'below_cost')
    assert.deepEqual(stage.audited.at(-1)?.details, {
      effective_from: body.effective_from,
      outcome: 'done',
    })
    const one = 'GET /operator/models/:model_id'
    const { price_history: history } = await stage.read(one, { ...AS, params })
    assert.deepEqual(
      history.map(({ state, effective_from: from }) => [state, from === at]),
      [
        ['planned', true],
        ['withdrawn', true],
        ['current', false],
      ],
    )
    const seen = await stage.read('GET /accounts/:account_id/models/:model_id', {
      as: 'home-owner',
      params: { account_id: house.accountId, ...params },
    })
    assert.deepEqual(
      seen.price_history.map(({ prices }) => prices[0]?.amount),
      ['10'],
    )
    const withdraw = 'DELETE /operator/models/:model_id/planned-prices/:version'
    const version = only?.version ?? ''
    assert.equal((await stage.ask(withdraw, { ...AS, params: { ...params, version } })).status, 204)
    assert.equal((await stage.ask(withdraw, { ...AS, params: { ...params, version } })).status, 404)
    assert.deepEqual((await stage.read(one, { ...AS, params })).planned_prices, [])
  })

  test('an invalid plan is refused, and one in effect stays', async () => {
    const plan = 'POST /operator/models/:model_id/planned-prices'
    const ask = (model: string, body: object) =>
      stage.ask(plan, { ...AS, params: { model_id: model }, body })
    const at = '2199-01-01T00:00:00Z'
    for (const [body, problem] of [
      [{ effective_from: '2020-01-01T00:00:00Z', prices: price('1') }, /must be in the future/],
      [{ effective_from: 'soon', prices: price('1') }, /effective_from/],
      [{ effective_from: at, prices: [] }, /prices: needs a price/],
      [{ effective_from: at, prices: price('1', 'image') }, /a chat model is billed by/],
    ] as const) {
      const answer = await ask('earns', body)
      assert.equal(answer.status, 400, answer.text)
      assert.match(answer.text, problem)
    }
    assert.equal((await ask('nothing', { effective_from: at, prices: price('1') })).status, 404)
    const current = await stage.read('GET /operator/models/:model_id', {
      ...AS,
      params: { model_id: 'earns' },
    })
    const gone = await stage.ask('DELETE /operator/models/:model_id/planned-prices/:version', {
      ...AS,
      params: { model_id: 'earns', version: current.price_version ?? '' },
    })
    assert.equal(gone.status, 404)
  })
})
