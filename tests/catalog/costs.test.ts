/** Costs of routes in the catalog: checked and versioned like prices, but separately. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCatalog } from '../../server/money/catalog/load/snapshot.ts'
import {
  apply,
  changes,
  channel,
  model,
  openDatabase,
  secrets,
  silent,
  upstreams,
} from './support.ts'

const cost = (amount: string) => [{ unit: 'output_token', per: 1000, amount }]

function shop(amount: string | undefined, change: object = {}) {
  const route = { channel: 'main', ...(amount === undefined ? {} : { costs: cost(amount) }) }
  return { channels: [channel('main')], models: [model('small', { routes: [route], ...change })] }
}

test('a route of a snapshot has its costs', async (t) => {
  const sql = await openDatabase(t)
  await apply(sql, { 'shop.json': shop('0.20') })
  const catalog = await createCatalog({ sql, upstreams, secrets, log: silent })
  t.after(() => catalog.stop())
  const [route] = catalog.snapshot().models.get('small')?.routes ?? []
  assert.deepEqual(route?.cost, {
    version: 1n,
    currency: 'CNY',
    entries: [{ unit: 'output_token', per: 1000, amountNanos: 200_000_000n }],
  })
})

test('a change of costs makes a new version of the costs, not of the prices', async (t) => {
  const sql = await openDatabase(t)
  await apply(sql, { 'shop.json': shop('0.2') })
  assert.deepEqual(await changes(apply(sql, { 'shop.json': shop('0.200') })), [])
  assert.deepEqual(await changes(apply(sql, { 'shop.json': shop('0.21') })), [
    'changed model small (costs)',
  ])
  assert.deepEqual(await changes(apply(sql, { 'shop.json': shop(undefined) })), [
    'changed model small (costs)',
  ])
  const [count] = await sql`
    select (select count(*)::int from upstream_cost) as costs, (select count(*)::int from price) as prices`
  assert.deepEqual({ ...count }, { costs: 2, prices: 1 })
  await assert.rejects(sql`update upstream_cost set currency = 'USD'`, /append-only/)
})

test('a wrong cost is refused with its path, like a wrong price', async (t) => {
  const sql = await openDatabase(t)
  const costs = [
    { unit: 'image', amount: '1' },
    { unit: 'output_token', per: 1, amount: '-1' },
    { unit: 'input_token', per: 1, amount: '1' },
    { unit: 'input_token', per: 1, amount: '2' },
  ]
  const wrong = { ...shop('1'), models: [model('small', { routes: [{ channel: 'main', costs }] })] }
  await assert.rejects(
    async () => apply(sql, { 'shop.json': wrong }),
    (error: Error) => {
      assert.match(error.message, /models\[0\]\.routes\[0\]\.costs\[1\]\.amount: must be a decimal/)
      return true
    },
  )
  const known = costs.map((one) => ({ ...one, amount: '1' }))
  const shaped = {
    ...wrong,
    models: [model('small', { routes: [{ channel: 'main', costs: known }] })],
  }
  await assert.rejects(
    async () => apply(sql, { 'shop.json': shaped }),
    (error: Error) => {
      assert.match(error.message, /costs\[0\]\.unit: a chat model is billed by/)
      assert.match(
        error.message,
        /costs\[3\]: never applies: costs\[2\] holds for every input_token/,
      )
      return true
    },
  )
  const none = { ...wrong, models: [model('small', { routes: [{ channel: 'main', costs: [] }] })] }
  await assert.rejects(async () => apply(sql, { 'shop.json': none }), /costs: needs a cost/)
})
