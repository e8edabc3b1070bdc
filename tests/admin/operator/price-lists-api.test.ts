/** The admin API of price lists: lists, the matrix, and what one customer pays and why. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { until } from '../../support/until.ts'
import { type AdminStage, startAdmin } from '../support.ts'

const CHAT = '/v1/chat/completions'
let stage: AdminStage

const tokens = (amount: string) => [
  { unit: 'input_token', per: 1000, amount: '0' },
  { unit: 'output_token', per: 1000, amount },
]

before(async () => {
  stage = await startAdmin()
  stage.enterOperator('boss')
  stage.enterOperator('tired', false)
  const settings = { base_url: `${stage.simulators.url}/openai/v1`, api_key: 'sim-openai-key' }
  await stage.apply(
    {
      channels: [{ id: 'listed', upstream: 'openai-compatible', settings }],
      models: ['m1', 'm2', 'm3'].map((id) => ({
        id,
        type: 'chat',
        prices: tokens('3'),
        routes: [{ channel: 'listed', upstream_model: 'sim-chat' }],
        limits: { max_output_tokens: 100 },
      })),
      price_lists: [
        { id: 'gold', default: { of: 'parent', factor: '2' }, prices: { m3: 'hidden' } },
        { id: 'vip', parent: 'gold', default: { of: 'parent', factor: '0.5' } },
      ],
    },
    'lists',
  )
})
after(() => stage.stop())

const AS = { as: 'boss' }
const ASSIGN = 'PUT /operator/accounts/:account_id/price-list'
const LIST = 'PUT /operator/price-lists/:list_id'
const PRICES = 'GET /operator/accounts/:account_id/prices'

/** A list of its own models, so that no other test sees them. */
async function put(id: string, members: object, more: object = {}) {
  return await stage.ask(LIST, { ...AS, params: { list_id: id }, body: members, ...more })
}

test('operators create, read and change a list', async () => {
  const rule = { of: 'parent', factor: '0.90' }
  const made = await put('silver', { parent: 'gold', default: rule }, { isNew: true })
  assert.equal(made.status, 200, made.text)
  assert.deepEqual(made.json.default, { of: 'parent', factor: '0.9' })
  const { updated_at: _, revision: __, warnings, ...row } = made.json
  assert.deepEqual(warnings, [])
  assert.deepEqual(
    { ...row, default: null },
    {
      id: 'silver',
      currency: 'CNY',
      parent: 'gold',
      account_id: null,
      status: 'active',
      source: 'console:silver',
      models: 0,
      accounts: 0,
      default: null,
      prices: {},
    },
  )
  assert.equal((await put('silver', {}, { isNew: true })).status, 409)
  const changed = await put('silver', { parent: 'gold', prices: { m1: tokens('1') } })
  assert.deepEqual(Object.keys(changed.json.prices), ['m1'])
  assert.equal(changed.json.models, 1)
  const listed = await stage.read('GET /operator/price-lists', { ...AS, query: { search: 'SILV' } })
  assert.deepEqual(
    listed.data.map(({ id, models }) => [id, models]),
    [['silver', 1]],
  )
  const acts = stage.audited.filter(({ target }) => target === 'silver')
  assert.ok(acts.some(({ action, details }) => action === LIST && details.outcome === 'done'))
})

test('a mistake in a list names its field, before anybody is asked for a step-up', async () => {
  for (const [body, field] of [
    [{ parent: 'gold', default: { of: 'parent', factor: '-1' } }, 'default'],
    [{ parent: 'gold', prices: { nowhere: 'hidden' } }, 'prices.nowhere'],
    [{ parent: 'gold', prices: { m1: [{ unit: 'character', amount: '1' }] } }, 'prices.m1[0]'],
    [{ parent: 'vip' }, 'parent'],
    [{ parent: 'gold', currency: 'USD' }, 'currency'],
    [{ parent: 'gold', planned_prices: [{ from: 'soon', prices: {} }] }, 'planned_prices[0].from'],
  ] as const) {
    const refused = await put('silver', body)
    assert.equal(refused.status, 400, refused.text)
    assert.ok(JSON.parse(refused.text).param.startsWith(field), refused.text)
  }
  const proof = await put('silver', { parent: 'gold' }, { as: 'tired' })
  assert.match(proof.text, /step_up_required/)
  const early = await put('silver', { parent: 'nowhere' }, { as: 'tired' })
  assert.equal(early.status, 400, 'a draft that is not valid asks for no step-up')
})

test('a list is given to an account, and retired once none has it', async () => {
  const params = { list_id: 'silver' }
  const tenant = await stage.tenant()
  const give = (list: string | null) =>
    stage.ask(ASSIGN, {
      ...AS,
      params: { account_id: tenant.accountId },
      body: { price_list: list },
    })
  assert.equal((await give('silver')).json.price_list, 'silver')
  const gone = 'DELETE /operator/price-lists/:list_id'
  const kept = await stage.ask(gone, { ...AS, params })
  assert.equal(kept.status, 409)
  assert.match(kept.text, /silver is still the list of an account/)
  assert.equal((await give('nowhere')).status, 400)
  assert.equal((await give(null)).json.price_list, null)
  assert.equal((await stage.ask(gone, { ...AS, params })).status, 204)
  assert.equal((await stage.ask(gone, { ...AS, params })).status, 404)
  assert.equal(
    (await stage.read('GET /operator/price-lists/:list_id', { ...AS, params })).status,
    'retired',
  )
})

test('an id that nothing can have is a 404', async () => {
  for (const id of ['\0', 'x'.repeat(2_000), '%']) {
    const params = { list_id: id, account_id: id }
    for (const key of ['GET /operator/price-lists/:list_id', PRICES] as const) {
      assert.equal((await stage.ask(key, { ...AS, params })).status, 404, id)
    }
  }
})

test('pages of lists follow each other by id', async () => {
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: Record<string, string> = { limit: '1', ...(cursor === '' ? {} : { cursor }) }
    const page = await stage.read('GET /operator/price-lists', { ...AS, query })
    seen.push(...page.data.map(({ id }) => id))
    cursor = page.next_cursor
  }
  assert.deepEqual(seen, seen.toSorted())
  assert.ok(seen.includes('gold') && seen.includes('vip'))
})

test('the matrix shows where a price comes from, what it costs and what is planned', async () => {
  const cost = [{ unit: 'call', per: 1, amount: '2' }]
  const model = (id: string, amount: string) => ({
    id,
    type: 'chat',
    prices: [{ unit: 'call', amount }],
    routes: [{ channel: 'listed', upstream_model: 'sim-chat', costs: cost }],
  })
  await stage.apply({ models: [model('matrix-1', '3'), model('matrix-2', '9')] }, 'matrix')
  const soon = new Date(Date.now() + 86_400_000).toISOString()
  const made = await put('matrix', {
    prices: { 'matrix-1': { of: 'parent', factor: '0.5' }, 'matrix-2': 'hidden' },
    planned_prices: [{ from: soon, prices: { 'matrix-2': { of: 'cost', factor: '1.5' } } }],
  })
  assert.match(made.json.warnings.join(), /matrix: below the upstream cost: matrix-1/)
  const lists = 'base,matrix'
  const query = { search: 'matrix', lists }
  const { data } = await stage.read('GET /operator/prices', { ...AS, query })
  const shown = data.flatMap(({ model: id, prices }) => {
    return prices.map((one) => [
      id,
      one.price_list,
      one.is_sold,
      one.list,
      one.prices[0]?.amount ?? null,
      one.margins[0]?.margin ?? null,
      one.is_below_cost,
    ])
  })
  assert.deepEqual(shown, [
    ['matrix-1', 'base', true, 'base', '3', '1', false],
    ['matrix-1', 'matrix', true, 'matrix', '1.5', '-0.5', true],
    ['matrix-2', 'base', true, 'base', '9', '7', false],
    ['matrix-2', 'matrix', false, 'matrix', null, null, false],
  ])
  const [first] = data
  const origin = { of: 'parent', factor: '0.5', from_version: first?.prices[0]?.version }
  assert.deepEqual(first?.prices[1]?.origin, origin)
  assert.deepEqual(first?.prices[1]?.cost, cost)
  const losses = { ...query, below_cost: 'true' }
  const below = await stage.read('GET /operator/prices', { ...AS, query: losses })
  assert.deepEqual(
    below.data.map((one) => one.model),
    ['matrix-1'],
  )
  const later = { ...query, at: soon, limit: '1', cursor: 'matrix-1' }
  const planned = await stage.read('GET /operator/prices', { ...AS, query: later })
  assert.deepEqual(
    planned.data.map((one) => [one.model, one.prices[1]?.prices[0]?.amount]),
    [['matrix-2', '3']],
  )
  for (const [name, value] of [
    ['lists', 'nowhere'],
    ['lists', seq(21)],
    ['at', '2020-01-01'],
  ] as const) {
    const { status } = await stage.ask('GET /operator/prices', { ...AS, query: { [name]: value } })
    assert.equal(status, 400, value)
  }
})

const seq = (count: number) => Array.from({ length: count }, (_, index) => `l${index}`).join()

test('operators see what one customer pays and why, and set their own prices', async () => {
  const home = await stage.house('why')
  const params = { account_id: home.accountId }
  await stage.read(ASSIGN, { ...AS, params, body: { price_list: 'vip' } })
  const path = 'PUT /operator/accounts/:account_id/prices'
  const own = { prices: { m1: { of: 'parent', factor: '3' } } }
  assert.equal((await stage.ask(path, { as: 'why-owner', params, body: own })).status, 403)
  const bad = await stage.ask(path, { ...AS, params, body: { prices: { m1: 'free' } } })
  assert.equal(JSON.parse(bad.text).param, 'prices.m1', bad.text)
  const unknown = await stage.ask(path, { ...AS, params: { account_id: 'acct_none' }, body: own })
  assert.equal(unknown.status, 404)
  await stage.read(path, { ...AS, params, body: own })
  const query = { search: 'm' }
  const shown = await stage.read(PRICES, { ...AS, params, query })
  assert.deepEqual(shown.lists, [`own:${home.accountId}`, 'vip', 'gold', 'base'])
  assert.deepEqual([shown.price_list, shown.own], ['vip', own])
  const rows = new Map(shown.data.map((row) => [row.model, row]))
  const m1 = rows.get('m1')
  assert.deepEqual([m1?.list, m1?.prices[1]?.amount], [`own:${home.accountId}`, '9'])
  assert.deepEqual(m1?.base_prices?.[1]?.amount, '3')
  assert.deepEqual([rows.get('m2')?.list, rows.get('m3')?.is_sold], ['vip', false])
  assert.deepEqual([rows.get('m3')?.list, rows.get('m3')?.origin], ['gold', { hidden: true }])
  assert.match(rows.get('m1')?.cost_problem ?? '', /the route listed\/sim-chat has no costs/)
  await until('the charge', async () => {
    const answer = await stage.post(CHAT, home.key, {
      model: 'm1',
      messages: [{ role: 'user', content: '[[tokens:10]]' }],
    })
    return answer.status === 200 && (await stage.record(answer, home.key)).charged === '0.09'
  })
  const remove = 'DELETE /operator/accounts/:account_id/prices'
  assert.equal((await stage.ask(remove, { ...AS, params })).status, 204)
  assert.equal((await stage.ask(remove, { ...AS, params })).status, 404)
  const after = await stage.read(PRICES, { ...AS, params, query: { search: 'm1' } })
  assert.deepEqual([after.own, after.data[0]?.list], [null, 'vip'])
})
