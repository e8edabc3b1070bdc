/** Planned prices: they take effect on every instance, by the database's clock. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Sql } from 'postgres'
import { CatalogError } from '../../server/money/catalog/apply/file.ts'
import { planPrices } from '../../server/money/catalog/apply/plan-prices.ts'
import { createCatalogClock } from '../../server/money/catalog/load/database-clock.ts'
import { type CatalogOptions, createCatalog } from '../../server/money/catalog/load/snapshot.ts'
import { expandPlans } from '../../server/money/catalog/price/expand-plans.ts'
import { listPlanned, type StoredPrice } from '../../server/money/catalog/store.ts'
import { deaf } from '../accounts/support.ts'
import { until } from '../support/until.ts'
import {
  apply,
  bringAbout,
  changes,
  channel,
  model,
  openDatabase,
  secrets,
  silent,
  upstreams,
} from './support.ts'

const NEVER = 60_000
const HOUR_MS = 3_600_000
const call = (amount: string) => [{ unit: 'call', amount }]
const plan = (at: Date, amount: string) => {
  return { effective_from: at.toISOString(), prices: call(amount) }
}

function shop(plans?: readonly object[], change: object = {}) {
  const planned = plans ? { planned_prices: plans } : {}
  const models = [model('small', { prices: call('1'), ...planned, ...change })]
  return { channels: [channel('main')], models }
}

async function start(t: TestContext, sql: Sql, options: Partial<CatalogOptions> = {}) {
  const fixed = { sql, upstreams, secrets, log: silent }
  const catalog = await createCatalog({ ...fixed, pollMs: NEVER, ...options })
  t.after(() => catalog.stop())
  return {
    catalog,
    price: () => catalog.snapshot().models.get('small')?.prices[0]?.amountNanos,
  }
}

async function inHours(sql: Sql, hours: number): Promise<Date> {
  const [row] = await sql<{ at: Date }[]>`
    select date_trunc('milliseconds', clock_timestamp() + make_interval(hours => ${hours})) as at`
  return row?.at ?? assert.fail()
}

test('every instance sells at the new price from its time on, without a job', async (t) => {
  const sql = await openDatabase(t)
  const [at, later] = [await inHours(sql, 1), await inHours(sql, 2)]
  await apply(sql, { 'shop.json': shop([plan(later, '3'), plan(at, '2')]) })
  let aheadMs = 0
  const clock = () => createCatalogClock(() => performance.now() + aheadMs)
  const both = [
    await start(t, deaf(sql), { clock: clock() }),
    await start(t, deaf(sql), { clock: clock() }),
  ]
  const before = both.map(({ price }) => price())
  const held = both[0]?.catalog.snapshot().models.get('small')
  aheadMs = HOUR_MS
  assert.deepEqual(before, [1_000_000_000n, 1_000_000_000n])
  assert.deepEqual(
    both.map(({ price }) => price()),
    [2_000_000_000n, 2_000_000_000n],
  )
  assert.equal(held?.prices[0]?.amountNanos, 1_000_000_000n, 'a call under way keeps its own')
  const now = both[1]?.catalog.snapshot().models.get('small')
  const [newest] = await sql`select version from price where effective_from = ${at}`
  assert.equal(now?.priceVersion, newest?.version)
  assert.deepEqual(
    now?.plannedPrices.map(({ effectiveFrom }) => effectiveFrom),
    [later],
  )
  await bringAbout(sql, at)
  assert.equal((await start(t, sql)).price(), 2_000_000_000n, 'and whoever starts afterwards')
})

test('instances load a plan and its withdrawal, with and without notifications', async (t) => {
  const sql = await openDatabase(t)
  const at = await inHours(sql, 1)
  await apply(sql, { 'shop.json': shop() })
  const all = [await start(t, sql), await start(t, deaf(sql), { pollMs: 50 })]
  const plans = () =>
    all.map(({ catalog }) => {
      return catalog.snapshot().models.get('small')?.plannedPrices.length
    })
  const see = (count: number) =>
    until(`${count} plans everywhere`, () => plans().every((one) => one === count))
  await apply(sql, { 'shop.json': shop([plan(at, '2')]) })
  await see(1)
  await apply(sql, { 'shop.json': shop([]) })
  await see(0)
})

test('the same file has the same effect before and after the planned time', async (t) => {
  const sql = await openDatabase(t)
  const at = await inHours(sql, 1)
  const file = (from: Date) => ({ 'shop.json': shop([plan(from, '2')]) })
  assert.deepEqual(await changes(apply(sql, file(at))), ['added channel main', 'added model small'])
  assert.deepEqual(await changes(apply(sql, file(at))), [])
  const begun = await bringAbout(sql, at)
  assert.deepEqual(await changes(apply(sql, file(begun))), [])
  const settled = { 'shop.json': shop(undefined, { prices: call('2') }) }
  assert.deepEqual(await changes(apply(sql, settled)), [], 'the plan has become the price')
  assert.equal((await start(t, sql)).price(), 2_000_000_000n)
  const [count] = await sql`select count(*)::int as versions from price`
  assert.equal(count?.versions, 2)
})

test('an immediate change lasts until the plan begins, a later one beyond it', async (t) => {
  const sql = await openDatabase(t)
  const at = await inHours(sql, 1)
  const file = (amount: string) => {
    return { 'shop.json': shop([plan(at, '2')], { prices: call(amount) }) }
  }
  await apply(sql, file('1'))
  assert.deepEqual(await changes(apply(sql, file('5'))), ['changed model small (prices)'])
  assert.equal((await start(t, sql)).price(), 5_000_000_000n)
  await bringAbout(sql, at)
  assert.equal((await start(t, sql)).price(), 2_000_000_000n)
  await apply(sql, { 'shop.json': shop(undefined, { prices: call('7') }) })
  assert.equal((await start(t, sql)).price(), 7_000_000_000n)
})

test('a file withdraws its own plans only', async (t) => {
  const sql = await openDatabase(t)
  const [first, second] = [await inHours(sql, 1), await inHours(sql, 2)]
  await apply(sql, { 'shop.json': shop([plan(first, '2')]) })
  await sql`
    insert into price (model_id, currency, prices, effective_from, source)
    values ('small', 'CNY', '[{"unit": "call", "per": 1, "amount": "9"}]', ${second}, 'console')`
  assert.deepEqual(await changes(apply(sql, { 'shop.json': shop([plan(first, '3')]) })), [
    'changed model small (planned prices)',
  ])
  assert.deepEqual(await changes(apply(sql, { 'shop.json': shop() })), [
    'changed model small (planned prices)',
  ])
  const { catalog } = await start(t, sql)
  const planned = catalog.snapshot().models.get('small')?.plannedPrices ?? []
  assert.deepEqual(
    planned.map(({ effectiveFrom, prices }) => [effectiveFrom, prices[0]?.amountNanos]),
    [[second, 9_000_000_000n]],
  )
  const free = shop(undefined, { free: true, prices: [] })
  await apply(sql, { 'shop.json': free })
  assert.deepEqual((await start(t, sql)).catalog.snapshot().models.get('small')?.plannedPrices, [])
})

for (const [what, plans, expected] of [
  ['no zone', [{ effective_from: '2030-01-01T00:00:00', prices: call('1') }], /effective_from/],
  ['no price', [{ effective_from: '2030-01-01T00:00:00Z', prices: [] }], /needs a price/],
  [
    'the same moment',
    [
      { effective_from: '2030-01-01T00:00:00Z', prices: call('1') },
      { effective_from: '2030-01-01T08:00:00+08:00', prices: call('2') },
    ],
    /planned_prices\[1\]\.effective_from: another plan takes effect at the same time/,
  ],
] as const) {
  test(`a plan with ${what} is refused`, async () => {
    const never = undefined as unknown as Sql
    await assert.rejects(async () => apply(never, { 'shop.json': shop(plans) }), expected)
  })
}

test('the clock is never behind the database’s, and keeps the best sample', async () => {
  let ours = 1_000
  let tookMs = 0
  const clock = createCatalogClock(() => ours)
  const look = (theirs: number) =>
    clock.sample(async () => {
      ours += tookMs
      return { at: new Date(theirs) }
    })
  tookMs = 100
  await look(500_000)
  assert.equal(clock.now(), 500_101, 'as if it had been read when the query was sent')
  tookMs = 2
  await look(500_050)
  assert.equal(clock.now(), 500_053)
  tookMs = 100
  await look(500_090)
  assert.equal(clock.now(), 500_153, 'a slow look teaches nothing')
  await look(900_000)
  assert.equal(clock.now(), 900_101, 'unless the clock was set')
})

test('a plan that ends gives way to what is in force without it', () => {
  const at = (day: number) => `2030-01-${String(day).padStart(2, '0')}T00:00:00.000Z`
  const priced = (amount: string): StoredPrice[] => [{ unit: 'call', per: 1, amount }]
  const expand = (...plans: readonly (readonly [string, number, number?])[]) =>
    expandPlans(
      priced('1'),
      plans.map(([amount, from, until]) => ({
        effective_from: at(from),
        ...(until === undefined ? {} : { until: at(until) }),
        prices: priced(amount),
      })),
    ).map(({ effective_from: from, prices: [first] }) => {
      return [Number(from.slice(8, 10)), first?.amount]
    })
  assert.deepEqual(expand(['2', 3]), [[3, '2']])
  assert.deepEqual(expand(['2', 3, 5]), [
    [3, '2'],
    [5, '1'],
  ])
  // A rise for good in the middle of a promotion ends it; a promotion after it ends at the rise.
  assert.deepEqual(expand(['0.5', 3, 9], ['2', 5]), [
    [3, '0.5'],
    [5, '2'],
  ])
  assert.deepEqual(expand(['2', 3], ['0.5', 5, 9]), [
    [3, '2'],
    [5, '0.5'],
    [9, '2'],
  ])
  assert.deepEqual(expand(['0.5', 3, 9], ['0.1', 4, 5], ['1', 9]), [
    [3, '0.5'],
    [4, '0.1'],
    [5, '0.5'],
    [9, '1'],
  ])
})

test('an operator’s plan does not end with another one', async (t) => {
  const sql = await openDatabase(t)
  await apply(sql, { 'shop.json': shop() })
  const days = await Promise.all(Array.from({ length: 10 }, (_, day) => inHours(sql, 24 * day)))
  const day = (index: number) => days[index] ?? assert.fail()
  const add = (amount: string, from: number, until?: number) =>
    planPrices(sql, 'small', {
      ...plan(day(from), amount),
      ...(until === undefined ? {} : { until: day(until).toISOString() }),
    })
  const refused = (at: number) => (error: unknown) =>
    error instanceof CatalogError &&
    error.message.startsWith(
      `the request: until: earlier prices return at ${day(at).toISOString()}`,
    )
  await add('0.5', 3, 6)
  await assert.rejects(add('2', 4), refused(6), 'a rise for good in the middle of a promotion')
  await assert.rejects(add('0.1', 4, 8), refused(6), 'a promotion that is to last longer')
  await assert.rejects(add('2', 1), refused(6), 'a rise for good before it')
  await assert.rejects(add('0.7', 1, 8), refused(6), 'a promotion around it')
  await add('0.1', 4, 5)
  await add('0.2', 1, 3)
  await add('2', 7)
  const rows = await listPlanned(sql)
  assert.deepEqual(
    rows.map(({ prices: [first] }) => first?.amount),
    ['0.2', '0.5', '0.1', '0.5', '1', '2'],
  )
  await add('0.8', 6, 7)
  assert.deepEqual(
    (await listPlanned(sql)).slice(-2).map(({ prices: [first] }) => first?.amount),
    ['0.8', '2'],
  )
  await add('0.3', 8, 9)
  await assert.rejects(add('3', 7), refused(9), 'the prices that it replaces return')
})

test('one promotion after another', async (t) => {
  const sql = await openDatabase(t)
  await apply(sql, { 'shop.json': shop() })
  const [from, change, end] = [await inHours(sql, 1), await inHours(sql, 2), await inHours(sql, 3)]
  await planPrices(sql, 'small', { ...plan(from, '0.5'), until: change.toISOString() })
  await planPrices(sql, 'small', { ...plan(change, '0.7'), until: end.toISOString() })
  const rows = await listPlanned(sql)
  assert.deepEqual(
    rows.map(({ prices: [first] }) => first?.amount),
    ['0.5', '0.7', '1'],
  )
})

test('a promotion is planned with its end, in a file and by an operator', async (t) => {
  const sql = await openDatabase(t)
  const [from, later, end] = [await inHours(sql, 1), await inHours(sql, 2), await inHours(sql, 3)]
  const promotion = { from: from.toISOString(), until: end.toISOString(), prices: call('0.5') }
  const rows = async () =>
    (await listPlanned(sql)).map(({ effective_from: at, prices: [first] }) => {
      return [at.getTime(), first?.amount]
    })
  await apply(sql, { 'shop.json': shop([promotion]) })
  const planned = [
    [from.getTime(), '0.5'],
    [end.getTime(), '1'],
  ]
  assert.deepEqual(await rows(), planned)
  assert.deepEqual(await changes(apply(sql, { 'shop.json': shop([promotion]) })), [])
  await apply(sql, { 'shop.json': shop([]) })
  assert.deepEqual(await rows(), [])
  const until = end.toISOString()
  await planPrices(sql, 'small', plan(later, '2'))
  await planPrices(sql, 'small', { ...plan(from, '0.5'), until })
  assert.deepEqual(await rows(), [
    [from.getTime(), '0.5'],
    [later.getTime(), '2'],
    [end.getTime(), '2'],
  ])
  // Planned again, its end moves with it; what is planned in between stays.
  const longer = await inHours(sql, 4)
  await planPrices(sql, 'small', {
    ...plan(from, '0.4'),
    until: new Date(from.getTime() + 1_800_000).toISOString(),
  })
  await planPrices(sql, 'small', { ...plan(from, '0.3'), until: longer.toISOString() })
  assert.deepEqual(await rows(), [
    [from.getTime(), '0.3'],
    [later.getTime(), '2'],
    [end.getTime(), '2'],
    [longer.getTime(), '2'],
  ])
  for (const wrong of [
    { ...promotion, until: promotion.from },
    { ...promotion, effective_from: until },
    { prices: call('1') },
  ]) {
    const applied = async () => await apply(sql, { 'shop.json': shop([wrong]) })
    await assert.rejects(applied, /planned_prices\[0\]/)
    await assert.rejects(planPrices(sql, 'small', wrong), /effective_from|from|until/)
  }
})
