/** A customer's price list: every way to a price reads the same one, and what has begun keeps its own. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { PendingQuery, Row } from 'postgres'
import { assignPriceList } from '../../../server/money/accounts/assign-price-list.ts'
import { clearOwnPrices, setOwnPrices } from '../../../server/money/catalog/apply/edit-lists.ts'
import { showPrices } from '../../../server/money/catalog/lists/show-prices.ts'
import { switchList } from '../../../server/money/catalog/lists/switch-list.ts'
import { audit } from '../../../server/money/ledger/audit/audit.ts'
import type { Tenant } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'
import { type AdminStage, startAdmin } from '../support.ts'

const CHAT = '/v1/chat/completions'
const VIDEO = '/v1/videos/generations'
const SEEDANCE = 'doubao-seedance-2-0-260128'
let stage: AdminStage

const tokens = (amount: string) => [
  { unit: 'input_token', per: 1000, amount: '0' },
  { unit: 'output_token', per: 1000, amount },
]

const lists = (gold: object = {}) => ({
  channels: [
    {
      id: 'listed',
      upstream: 'openai-compatible',
      settings: { base_url: `${stage.simulators.url}/openai/v1`, api_key: 'sim-openai-key' },
    },
  ],
  models: ['m1', 'm2', 'm3', 'm4'].map((id) => ({
    id,
    type: 'chat',
    prices: tokens('3'),
    routes: [{ channel: 'listed', upstream_model: 'sim-chat' }],
    limits: { max_output_tokens: 100 },
  })),
  price_lists: [
    {
      id: 'gold',
      default: { of: 'parent', factor: '2' },
      prices: { m2: tokens('7'), m3: 'hidden', m4: [{ unit: 'call', amount: '5' }] },
      ...gold,
    },
    { id: 'vip', parent: 'gold', default: { of: 'parent', factor: '0.5' } },
  ],
})

before(async () => {
  stage = await startAdmin()
  await stage.apply(lists(), 'lists')
})
after(() => stage.stop())

/** Switches as an operator does, and waits until this gateway knows. */
async function assign({ accountId, key }: Tenant, list: string | null): Promise<void> {
  await switchList(stage.sql, (sql) => assignPriceList(sql, accountId, list, 'test'))
  await until('the list at the gateway', async () => {
    const shown = await stage.get('/v1/models/m1', key)
    const [price] = await showPrices(stage.sql, { currency: 'CNY', priceList: list }, 'm1')
    return shown.json.prices[1]?.amount === price?.prices[1]?.amount
  })
}

const body = (model: string, more: object = {}) => ({
  model,
  messages: [{ role: 'user', content: '[[tokens:10]]' }],
  ...more,
})

async function call(tenant: Tenant, model: string, more: object = {}) {
  const answer = await stage.post(CHAT, tenant.key, body(model, more))
  assert.equal(answer.status, 200, answer.text)
  // biome-ignore lint/suspicious/noExplicitAny: records have more members than other tests need.
  return (await stage.record(answer, tenant.key)) as any
}

test('models, quote, hold, charge, record, console and operator see one price', async () => {
  const home = await stage.house('home')
  await assign(home, 'gold')
  const params = { account_id: home.accountId }
  const shown = (await stage.get('/v1/models', home.key)).json.data
  const offered = new Map(shown.map((one: { id: string }) => [one.id, one]))
  assert.equal(offered.has('m3'), false)
  const operators = await showPrices(stage.sql, { currency: 'CNY', priceList: 'gold' })
  for (const [model, price] of [
    ['m1', '6'],
    ['m2', '7'],
  ] as const) {
    const one = (await stage.get(`/v1/models/${model}`, home.key)).json
    assert.deepEqual(offered.get(model), one)
    assert.equal(one.prices[1].amount, price)
    const page = await stage.read('GET /accounts/:account_id/models/:model_id', {
      as: 'home-member',
      params: { ...params, model_id: model },
    })
    assert.deepEqual(page.prices, one.prices)
    assert.equal(page.price_history[0]?.version, page.price_version)
    const listed = await stage.read('GET /accounts/:account_id/models', {
      as: 'home-member',
      params,
      query: { search: model },
    })
    assert.deepEqual(listed.data[0]?.prices, one.prices)
    const row = operators.find((found) => found.model === model)
    assert.deepEqual(row?.prices, one.prices)
    assert.deepEqual([row?.list, row?.version], ['gold', page.price_version])
    const quoted = await stage.read('POST /accounts/:account_id/quote', {
      as: 'home-member',
      params,
      body: { path: CHAT, query: {}, headers: {}, body: body(model) },
    })
    for (const stream of [false, true]) {
      const record = await call(home, model, { stream })
      assert.equal(record.held, quoted.amount)
      assert.equal(record.price_version, quoted.price_version)
      assert.equal(record.charged, price === '6' ? '0.06' : '0.07')
      assert.equal(record.lines.at(-1)?.unit_price, price)
      assert.deepEqual(
        [record.price_list, record.price_version, record.list_amount],
        ['gold', page.price_version, '0.03'],
      )
      assert.equal(record.lines.at(-1)?.list_amount, '0.03')
    }
    const [first] = (await stage.get('/v1/usage?limit=1', home.key)).json.data
    assert.deepEqual([first.price_list, first.list_amount], ['gold', '0.03'])
  }
})

test('a model that the list prices by the call shows what tokens would have cost', async () => {
  const tenant = await stage.tenant()
  await assign(tenant, 'gold')
  const record = await call(tenant, 'm4')
  assert.deepEqual([record.charged, record.list_amount], ['5', '0.03'])
})

test('a hidden model is one that does not exist, also for an old key and in a list', async () => {
  const tenant = await stage.tenant({ key: { models: ['m1', 'm3'] } })
  assert.equal((await call(tenant, 'm3')).price_list, 'base')
  await assign(tenant, 'gold')
  const unknown = await stage.post(CHAT, tenant.key, body('no-such-model'))
  const hidden = await stage.post(CHAT, tenant.key, body('m3'))
  assert.equal(hidden.status, 404)
  assert.equal(hidden.text.replaceAll('m3', 'no-such-model'), unknown.text)
  assert.equal((await stage.get('/v1/models/m3', tenant.key)).status, 404)
  const several = await stage.post(CHAT, tenant.key, { ...body('m1'), models: ['m1', 'm3'] })
  assert.equal(several.status, 400, several.text)
  assert.match(several.text, /m3/)
})

test('a task keeps its prices when the list is switched, and a repeat its charge', async () => {
  const tenant = await stage.tenant({ balance: '1000' })
  await assign(tenant, 'gold')
  const order = { model: SEEDANCE, content: [{ type: 'text', text: 'A river' }] }
  const created = await stage.post(VIDEO, tenant.key, order)
  assert.equal(created.status, 200, created.text)
  const headers = { 'idempotency-key': 'once' }
  const first = await stage.post(CHAT, tenant.key, body('m1'), headers)
  await assign(tenant, null)
  assert.equal((await call(tenant, 'm1')).charged, '0.03')
  const again = await stage.post(CHAT, tenant.key, body('m1'), headers)
  assert.equal(again.text, first.text)
  assert.equal((await stage.record(first, tenant.key)).charged, '0.06')
  await until('the video', async () => {
    const { status } = (await stage.get(`${VIDEO}/${created.json.id}`, tenant.key)).json
    assert.notEqual(status, 'failed')
    return status === 'succeeded'
  })
  // biome-ignore lint/suspicious/noExplicitAny: records have more members than other tests need.
  const record = (await stage.record(created, tenant.key)) as any
  assert.equal(record.price_list, 'gold')
  const charged = Number(record.charged)
  assert.ok(charged > 0)
  assert.ok(Math.abs(charged - 2 * Number(record.list_amount)) < 1e-8, record.list_amount)
})

test('an account’s own prices stand on top of its list', async () => {
  const home = await stage.house('own')
  await assign(home, 'vip')
  assert.equal((await call(home, 'm1')).charged, '0.03')
  const account = { id: home.accountId, currency: 'CNY' }
  const own = { prices: { m1: { of: 'parent', factor: '3' }, m3: tokens('1') } }
  await setOwnPrices(stage, account, own)
  // A gateway that has not loaded the new list yet answers 503.
  const charges = async (expected: string) => {
    await until(`a charge of ${expected}`, async () => {
      const answer = await stage.post(CHAT, home.key, body('m1'))
      if (answer.status === 503) return false
      return (await stage.record(answer, home.key)).charged === expected
    })
  }
  await charges('0.09')
  assert.equal((await call(home, 'm3')).charged, '0.01')
  assert.equal((await call(home, 'm2')).charged, '0.035', 'the parent prices what it does not name')
  await switchList(stage.sql, (sql) => assignPriceList(sql, home.accountId, 'gold', 'test'))
  await charges('0.18')
  // Own prices that do not follow the list are as before, what they leave to it is not.
  await setOwnPrices(stage, account, { prices: { m1: tokens('2') } })
  await charges('0.02')
  await switchList(stage.sql, (sql) => assignPriceList(sql, home.accountId, 'vip', 'test'))
  await until('the other list below', async () => (await call(home, 'm2')).charged === '0.035')
  await switchList(stage.sql, (sql) => assignPriceList(sql, home.accountId, 'gold', 'test'))
  await until('the list again', async () => (await call(home, 'm2')).charged === '0.07')
  assert.equal(await clearOwnPrices(stage.sql, home.accountId), true)
  await charges('0.06')
})

test('a list in use is not retired, and one of another currency is not given', async () => {
  const tenant = await stage.tenant()
  await assign(tenant, 'vip')
  const without = { ...lists(), price_lists: lists().price_lists.slice(0, 1) }
  await assert.rejects(stage.apply(without, 'lists'), /vip is still the list of /)
  const give = (list: string) => {
    return switchList(stage.sql, (sql) => assignPriceList(sql, tenant.accountId, list, 'test'))
  }
  await assert.rejects(give('nowhere'), /there is no price list nowhere/)
  await stage.apply({ price_lists: [{ id: 'usd', currency: 'USD' }] }, 'others')
  await assert.rejects(give('usd'), /usd is in USD, this account pays in CNY/)
})

const findProblems = async () => {
  const { checks } = await audit(stage.sql)
  return checks.flatMap(({ ok, id, details }) => (ok ? [] : [[id, details[0]?.found]]))
}

test('the books explain the price of a model that stands in, by its own base prices', async () => {
  const settings = { base_url: 'http://127.0.0.1:1', api_key: 'a-key' }
  const down = {
    channels: [{ id: 'down', upstream: 'openai-compatible', settings }],
    models: [
      {
        id: 'unserved',
        type: 'chat',
        prices: tokens('4'),
        routes: [{ channel: 'down', upstream_model: 'sim-chat' }],
      },
    ],
  }
  await stage.apply(down, 'down')
  const tenant = await stage.tenant()
  await assign(tenant, 'gold')
  const record = await call(tenant, 'unserved', { models: ['m1'] })
  assert.deepEqual([record.served_model, record.charged], ['m1', '0.06'])
  assert.deepEqual(await findProblems(), [])
})

test('the books explain every price, and nothing else passes for one', async () => {
  assert.deepEqual(await findProblems(), [])
  const tenant = await stage.tenant()
  await assign(tenant, 'gold')
  const record = await call(tenant, 'm1')
  const { sql } = stage
  const id = record.request_id
  const [before] = await sql`select lines, attempts from call where request_id = ${id}`
  const edit = async (set: PendingQuery<Row[]>) => {
    await sql`update call set ${set} where request_id = ${id}`
    const problems = await findProblems()
    await sql`update call set lines = ${sql.json(before?.lines)},
      attempts = ${sql.json(before?.attempts)} where request_id = ${id}`
    return problems.flat().join()
  }
  const last = (member: string, value: string) => {
    return edit(
      sql`lines = jsonb_set(lines, ${['-1', member]}::text[], ${`"${value}"`}::text::jsonb)`,
    )
  }
  assert.match(
    await last('amount', '0.059999999'),
    /^I24,10 output_token at 6 for 1000: 0.059999999/,
  )
  assert.match(await last('unit_price', '7'), /^I24,10 output_token at 7 for 1000/)
  assert.match(await last('list_amount', '0.04'), /^I24,.*at base prices 0.04/)
  // A call that was closed at a checkpoint without attempts.
  const bare = await edit(
    sql`attempts = '[]', lines = jsonb_set(lines, '{-1,list_amount}', '"0.04"')`,
  )
  assert.match(bare, /^I24,.*at base prices 0.04/)
  const [foreign] = await sql<{ version: string }[]>`
    select version::text from price where model_id = 'm1 vip' order by version desc limit 1`
  const attempt = JSON.stringify([{ price_version: foreign?.version }])
  const stranger = await edit(sql`attempts = ${attempt}::text::jsonb`)
  assert.match(stranger, /^I24,\d+ on vip/)
  assert.deepEqual(await findProblems(), [])
})
