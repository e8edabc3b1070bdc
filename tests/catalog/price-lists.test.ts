/** Price lists: what their rules come to, when that changes, and what an apply refuses. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Sql } from 'postgres'
import { formatAmount } from '../../server/base/lib/money.ts'
import { planPrices, withdrawPlan } from '../../server/money/catalog/apply/plan-prices.ts'
import { exportCatalog } from '../../server/money/catalog/export.ts'
import { catchUpLists } from '../../server/money/catalog/lists/catch-up.ts'
import { createCatalogClock } from '../../server/money/catalog/load/database-clock.ts'
import { soldTo } from '../../server/money/catalog/load/load-lists.ts'
import { createCatalog } from '../../server/money/catalog/load/snapshot.ts'
import { readMoment, savePrice } from '../../server/money/catalog/store.ts'
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

const call = (amount: string) => [{ unit: 'call', amount }]
const cost = (amount: string) => [{ unit: 'call', per: 1, amount }]

const routes = [
  { channel: 'main', costs: cost('0.4') },
  { channel: 'dear', costs: cost('0.5') },
]
const shop = (lists: readonly object[], change: object = {}) => ({
  currency: 'USD',
  channels: [channel('main'), channel('dear')],
  models: [
    model('m1', { prices: call('1'), routes, ...change }),
    model('m2', { prices: call('2'), routes }),
    model('m3', { prices: call('3'), routes }),
  ],
  price_lists: lists,
})

const GOLD = {
  id: 'gold',
  default: { of: 'parent', factor: '0.9' },
  prices: { m2: call('1.5'), m3: 'hidden' },
}
const VIP = { id: 'vip', parent: 'gold', default: { of: 'parent', factor: '0.5' }, prices: {} }

/** Returns the prices of a list as a gateway reads them, by model; a hidden model is absent. */
async function prices(sql: Sql, priceList: string | null, pricedAtMs?: number) {
  const catalog = await createCatalog({ sql, upstreams, secrets, log: silent, pollMs: 60_000 })
  try {
    const snapshot = catalog.snapshot()
    const view = soldTo(
      { ...snapshot, pricedAtMs: pricedAtMs ?? snapshot.pricedAtMs },
      { priceList },
    )
    const models = [...(view?.models.values() ?? [])]
    return Object.fromEntries(
      models.map(({ id, prices: [first], list }) => {
        return [id, `${formatAmount(first?.amountNanos ?? 0n)} ${list?.id ?? 'base'}`]
      }),
    )
  } finally {
    await catalog.stop()
  }
}

async function refused(work: () => Promise<unknown>): Promise<string> {
  return await (async () => await work())().then(
    () => '',
    (error: Error) => error.message,
  )
}

test('a list prices, hides and multiplies; a child builds on its parent', async (t) => {
  const sql = await openDatabase(t)
  const first = apply(sql, { 'shop.json': shop([VIP, GOLD]) })
  assert.ok((await changes(first)).includes('added price_list vip'))
  assert.deepEqual(await prices(sql, null), { m1: '1 base', m2: '2 base', m3: '3 base' })
  assert.deepEqual(await prices(sql, 'gold'), { m1: '0.9 gold', m2: '1.5 gold' })
  assert.deepEqual(await prices(sql, 'vip'), { m1: '0.45 vip', m2: '0.75 vip' })
  const again = await apply(sql, { 'shop.json': shop([VIP, GOLD]) })
  assert.deepEqual([again.changes, again.revision], [[], 1n])
  const [count] = await sql`select count(*)::int as n from price where list_id is not null`
  assert.equal(count?.n, 5, 'the second apply writes no version')
})

test('a change of the base price, of the parent or of a cost moves what is made from it', async (t) => {
  const sql = await openDatabase(t)
  const plus = { id: 'plus', default: { of: 'cost', factor: '1.2' }, prices: {} }
  await apply(sql, { 'shop.json': shop([GOLD, VIP, plus]) })
  assert.equal((await prices(sql, 'plus')).m1, '0.6 plus', 'the dearest route')
  const dearer = { prices: call('10'), routes: [{ channel: 'main', costs: cost('5') }] }
  const diff = await apply(sql, { 'shop.json': shop([GOLD, VIP, plus], dearer) })
  assert.equal((await prices(sql, 'gold')).m1, '9 gold')
  assert.equal((await prices(sql, 'vip')).m1, '4.5 vip')
  assert.equal((await prices(sql, 'plus')).m1, '6 plus')
  assert.deepEqual(diff.warnings, [
    'price list vip: below the upstream cost: m1 (call, channel main)',
  ])
  const cheaper = { ...GOLD, prices: {} }
  await apply(sql, { 'shop.json': shop([cheaper, VIP, plus], dearer) })
  assert.deepEqual(await prices(sql, 'vip'), { m1: '4.5 vip', m2: '0.9 vip', m3: '1.35 vip' })
  const origins = await sql`
    select origin from price where list_id = 'vip' and model_id = 'm2 vip' order by version`
  const [gold] = await sql`
    select max(version)::text as version from price where model_id = 'm2 gold'`
  assert.deepEqual(origins.at(-1)?.origin, {
    of: 'parent',
    factor: '0.5',
    from_version: gold?.version,
  })
})

test('a factor of 0 is a price of 0', async (t) => {
  const sql = await openDatabase(t)
  const free = { id: 'free', default: { of: 'parent', factor: '0' }, prices: {} }
  await apply(sql, { 'shop.json': shop([free]) })
  assert.deepEqual((await prices(sql, 'free')).m1, '0 free')
})

test('a planned change of the parent moves the child at the same moment', async (t) => {
  const sql = await openDatabase(t)
  await apply(sql, { 'shop.json': shop([GOLD, VIP]) })
  const from = new Date(Date.now() + 3_600_000)
  await planPrices(sql, 'm1', { effective_from: from.toISOString(), prices: call('2') })
  const before = from.getTime() - 1
  assert.equal((await prices(sql, 'vip', before)).m1, '0.45 vip')
  assert.equal((await prices(sql, 'gold', from.getTime())).m1, '1.8 gold')
  assert.equal((await prices(sql, 'vip', from.getTime())).m1, '0.9 vip')
  const [plan] = await sql<{ version: bigint }[]>`
    select version from price where model_id = 'm1' and effective_from > now()`
  await withdrawPlan(sql, 'm1', plan?.version ?? 0n)
  assert.equal((await prices(sql, 'vip', from.getTime())).m1, '0.45 vip', 'withdrawn with it')
  const [left] = await sql`
    select count(*)::int as n from price p where effective_from > now()
      and not exists (select from price_withdrawal w where w.version = p.version)`
  assert.equal(left?.n, 0)
})

test('a promotion begins and ends by itself, on the list and below it', async (t) => {
  const sql = await openDatabase(t)
  const from = new Date(Date.now() + 3_600_000)
  const until = new Date(from.getTime() + 3_600_000)
  const promoted = {
    ...GOLD,
    planned_prices: [
      { from, until, prices: { m3: call('1') }, default: { of: 'parent', factor: '0.5' } },
    ],
  }
  await apply(sql, { 'shop.json': shop([promoted, VIP]) })
  const normal = { m1: '0.9 gold', m2: '1.5 gold' }
  assert.deepEqual(await prices(sql, 'gold'), normal)
  const during = { m1: '0.5 gold', m2: '1.5 gold', m3: '1 gold' }
  assert.deepEqual(await prices(sql, 'gold', from.getTime()), during)
  assert.equal((await prices(sql, 'vip', from.getTime())).m3, '0.5 vip')
  assert.deepEqual(await prices(sql, 'gold', until.getTime() - 1), during)
  assert.deepEqual(await prices(sql, 'gold', until.getTime()), normal)
  await apply(sql, { 'shop.json': shop([GOLD, VIP]) })
  assert.deepEqual(await prices(sql, 'gold', from.getTime()), normal, 'withdrawn whole')
})

test('what is planned for a model that the list does not name waits for its moment', async (t) => {
  const sql = await openDatabase(t)
  const from = '2030-01-01T00:00:00.000Z'
  const plan = { from, prices: { m1: call('0.1'), m2: 'hidden' } }
  const planned = { id: 'planned', prices: {}, planned_prices: [plan] }
  const below = { id: 'below', parent: 'planned', default: { of: 'parent', factor: '0.5' } }
  await apply(sql, { 'shop.json': shop([planned, below]) })
  assert.deepEqual(await prices(sql, 'planned'), { m1: '1 base', m2: '2 base', m3: '3 base' })
  assert.deepEqual(await prices(sql, 'below'), { m1: '0.5 below', m2: '1 below', m3: '1.5 below' })
  const then = Date.parse(from)
  assert.deepEqual(await prices(sql, 'planned', then), { m1: '0.1 planned', m3: '3 base' })
  assert.deepEqual(await prices(sql, 'below', then), { m1: '0.05 below', m3: '1.5 below' })
})

test('a gateway sells at a promotion from its moment on, without a job', async (t) => {
  const sql = await openDatabase(t)
  let aheadMs = 0
  const clock = createCatalogClock(() => performance.now() + aheadMs)
  const catalog = await createCatalog({
    sql,
    upstreams,
    secrets,
    log: silent,
    pollMs: 60_000,
    clock,
  })
  t.after(() => catalog.stop())
  const from = new Date(Date.now() + 3_600_000)
  const promoted = { ...GOLD, planned_prices: [{ from, prices: { m1: call('0.1') } }] }
  await apply(sql, { 'shop.json': shop([promoted]) })
  await catalog.refresh()
  const amount = () => {
    return soldTo(catalog.snapshot(), { priceList: 'gold' })?.models.get('m1')?.prices[0]
      ?.amountNanos
  }
  const before = amount()
  aheadMs = 3_600_000
  assert.deepEqual([before, amount()], [900_000_000n, 100_000_000n])
})

test('what a list cannot be is refused with its place', async (t) => {
  const sql = await openDatabase(t)
  const applied = (...lists: object[]) => refused(() => apply(sql, { 'shop.json': shop(lists) }))
  const list = (id: string, parent: string) => ({ id, parent, prices: {} })
  assert.match(await applied(list('a', 'b'), list('b', 'a')), /price_lists\[0\].parent: .*loop/)
  assert.match(await applied(list('a', 'a')), /loop/)
  assert.match(
    await applied(list('a', 'base'), list('b', 'a'), list('c', 'b'), list('d', 'c')),
    /price_lists\[3\].parent: at most 3 lists/,
  )
  assert.match(await applied(list('a', 'nowhere')), /there is no price list "nowhere"/)
  assert.match(await applied(list('base', 'base')), /must not be "base"/)
  assert.match(
    await applied({ ...GOLD, prices: { typo: 'hidden' } }),
    /price_lists\[0\].prices.typo: there is no model "typo"/,
  )
  assert.match(
    await applied({ ...GOLD, prices: { m1: [{ unit: 'character', per: 1, amount: '1' }] } }),
    /price_lists\[0\].prices.m1\[0\].unit: a chat model is billed by/,
  )
  assert.match(await applied({ ...GOLD, default: { of: 'parent', factor: 0.9 } }), /decimal string/)
  assert.match(
    await applied({ ...GOLD, default: { of: 'parent', factor: '0.9000001' } }),
    /6 digits/,
  )
  assert.match(await applied({ ...GOLD, currency: 'EUR' }, VIP), /"gold" is in EUR/)
  const cny = { ...GOLD, id: 'cny', currency: 'CNY', prices: { m1: { of: 'cost', factor: '1' } } }
  assert.match(await applied(cny), /m1: the route main\/m1 costs in USD/)
  assert.equal(await applied(GOLD, VIP), '')
  assert.match(
    await applied({ ...VIP }),
    /price_lists\[0\].parent: gold is still the parent of vip/,
  )
  assert.match(await applied(GOLD, { ...VIP, parent: 'base' }), /the parent of vip is gold/)
})

test('a route without costs is refused while a list builds on costs', async (t) => {
  const sql = await openDatabase(t)
  const plus = { id: 'plus', prices: { m1: { of: 'cost', factor: '1.2' } } }
  await apply(sql, { 'shop.json': shop([plus]) })
  const unknown = { routes: [...routes, { channel: 'dear', upstream_model: 'other' }] }
  const reason = await refused(() => apply(sql, { 'shop.json': shop([plus], unknown) }))
  assert.match(reason, /price_lists\[0\] \(plus\): m1: the route dear\/other has no costs/)
  assert.equal((await prices(sql, 'plus')).m1, '0.6 plus')
})

test('a list in another currency sells what it prices itself', async (t) => {
  const sql = await openDatabase(t)
  const cny = {
    id: 'cny',
    currency: 'CNY',
    default: { of: 'parent', factor: '1' },
    prices: { m1: call('7') },
  }
  await apply(sql, { 'shop.json': shop([cny]) })
  const catalog = await createCatalog({ sql, upstreams, secrets, log: silent, pollMs: 60_000 })
  t.after(() => catalog.stop())
  const view = soldTo(catalog.snapshot(), { priceList: 'cny' })
  const currencies = [...(view?.models.values() ?? [])].map((one) => [one.id, one.currency])
  assert.deepEqual(Object.fromEntries(currencies), { m1: 'CNY', m2: 'USD', m3: 'USD' })
})

test('an export is applied elsewhere as it is', async (t: TestContext) => {
  const [sql, other] = [await openDatabase(t), await openDatabase(t)]
  const from = new Date(Date.now() + 3_600_000).toISOString()
  const planned = { ...VIP, planned_prices: [{ from, prices: { m1: 'hidden' } }] }
  await apply(sql, { 'shop.json': shop([GOLD, planned]) })
  const exported = async (of: Sql) => {
    return (await exportCatalog(of, { secrets, secretsAs: 'sealed' })).catalog
  }
  const file = await exported(sql)
  await apply(other, { 'shop.json': file })
  assert.deepEqual((await exported(other)).price_lists, file.price_lists)
  assert.deepEqual((await apply(sql, { 'shop.json': file })).changes, [])
  assert.deepEqual(await prices(other, 'vip'), await prices(sql, 'vip'))
})

test('a gateway that starts follows base prices that an earlier version has changed', async (t) => {
  const sql = await openDatabase(t)
  await apply(sql, { 'shop.json': shop([VIP, GOLD]) })
  const tenCalls = [{ unit: 'call', per: 1, amount: '10' }] as const
  await sql.begin(async (transaction) => {
    const from = { effectiveFrom: new Date(), currency: 'USD', source: 'shop' }
    await savePrice(transaction, { ...from, modelId: 'm1', prices: tenCalls })
  })
  assert.equal((await prices(sql, 'vip')).m1, '0.45 vip')
  await catchUpLists(sql, silent)
  assert.equal((await prices(sql, 'gold')).m1, '9 gold')
  assert.equal((await prices(sql, 'vip')).m1, '4.5 vip')
  const { revision } = await readMoment(sql)
  await catchUpLists(sql, silent)
  assert.equal((await readMoment(sql)).revision, revision, 'nothing is left to do')
})

test('prices are worked out once for the same sources, whichever version has made them', async (t) => {
  const sql = await openDatabase(t)
  await apply(sql, { 'shop.json': shop([VIP, GOLD]) })
  const broken = `{"m1": [{"version": "9", "from": 0, "origin": {"hidden": true}}]}`
  /** Writes prices as `at` says; only a list that is worked out again gets true ones. */
  const damage = (at: 'before' | 'now') => sql`
    update price_list set compiled = ${broken},
      updated_at = ${at === 'now' ? sql`now()` : sql`updated_at`}`
  const compiled = async () => {
    const rows = await sql<{ id: string; compiled: string }[]>`
      select id, compiled from price_list order by id`
    return rows.map((row) => row.compiled === broken)
  }
  await damage('before')
  await catchUpLists(sql, silent)
  assert.deepEqual(await compiled(), [true, true], 'a start works nothing out')
  await apply(sql, {
    'shop.json': shop([VIP, { ...GOLD, default: { of: 'parent', factor: '2' } }]),
  })
  assert.deepEqual(
    await compiled(),
    [false, false],
    'a changed list, and the one that refers to it',
  )
  await damage('now')
  await catchUpLists(sql, silent)
  assert.deepEqual(await compiled(), [false, false], 'the version before has written them')
})
