/** The catalog in memory: complete, up to date on every instance, and robust to a bad channel. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Sql } from 'postgres'
import { createSecretBox, createSecretKey } from '../../server/base/lib/secrets/secrets.ts'
import { type CatalogOptions, createCatalog } from '../../server/money/catalog/load/snapshot.ts'
import { deaf } from '../accounts/support.ts'
import { until } from '../support/until.ts'
import {
  apply,
  channel,
  model,
  openDatabase,
  secrets,
  silent,
  simple,
  upstreams,
} from './support.ts'

async function start(t: TestContext, sql: Sql, options: Partial<CatalogOptions> = {}) {
  const catalog = await createCatalog({ sql, upstreams, secrets, log: silent, ...options })
  t.after(() => catalog.stop())
  return catalog
}

test('a snapshot contains the applied entries', async (t) => {
  const sql = await openDatabase(t)
  const dear = model('dear', {
    prices: [
      { unit: 'call', amount: '2.5', when: { deep: true } },
      { unit: 'call', amount: '1' },
    ],
    routes: [{ channel: 'main', upstream_model: 'vendor/x', priority: 2, weight: 3 }],
    limits: { max_output_tokens: 9 },
    details: { owned_by: 'me', note: [1] },
  })
  const free = model('free', { free: true, prices: [] })
  const shop = { channels: [channel('main', { api_key: 'env:KEY' })], models: [dear, free] }
  const environment = { KEY: 'from the environment' }
  await apply(sql, { 'shop.json': { currency: 'USD', ...shop } }, { environment })
  const { revision, channels, models } = (await start(t, sql, { environment })).snapshot()
  assert.equal(revision, 1n)
  assert.deepEqual(channels.get('main'), {
    id: 'main',
    upstream: 'plain',
    version: 1,
    isPaused: false,
    wokenAt: null,
    settings: { base_url: 'https://upstream.test/v1', api_key: 'from the environment' },
  })
  const { updatedAt, priceVersion, ...rest } = models.get('dear') ?? assert.fail()
  assert.ok(updatedAt instanceof Date)
  assert.equal(typeof priceVersion, 'bigint')
  assert.deepEqual(rest, {
    id: 'dear',
    type: 'chat',
    free: false,
    currency: 'USD',
    limits: { max_output_tokens: 9 },
    routes: [{ channel: 'main', upstreamModel: 'vendor/x', priority: 2, weight: 3 }],
    prices: [
      { unit: 'call', per: 1, amountNanos: 2_500_000_000n, when: { deep: true } },
      { unit: 'call', per: 1, amountNanos: 1_000_000_000n },
    ],
    plannedPrices: [],
    details: { owned_by: 'me', note: [1] },
  })
  assert.deepEqual(
    [models.get('free')?.free, models.get('free')?.prices, models.get('free')?.priceVersion],
    [true, [], null],
  )
})

for (const hearing of ['hearing', 'deaf'] as const) {
  test(`two ${hearing} instances load a change by themselves`, async (t) => {
    const sql = await openDatabase(t)
    const view = hearing === 'deaf' ? deaf(sql) : sql
    const pollMs = hearing === 'deaf' ? 50 : 60_000
    const both = [await start(t, view, { pollMs }), await start(t, view, { pollMs })]
    await apply(sql, { 'shop.json': simple })
    const count = () => both.map((one) => one.snapshot().models.size)
    await until('the change', () => count().every((size) => size > 0))
    const held = both[0]?.snapshot()
    await apply(sql, { 'shop.json': {} })
    await until('the retirement', () => count().every((size) => size === 0))
    assert.ok(held?.models.has('small'), 'a snapshot never changes under a call')
  })
}

test('refresh loads everything that was applied before it', async (t) => {
  const sql = await openDatabase(t)
  const catalog = await start(t, deaf(sql), { pollMs: 60_000 })
  for (let retries = 1; retries <= 5; retries += 1) {
    const running = catalog.refresh()
    await apply(sql, { 'shop.json': { channels: [channel('main', { retries })] } })
    await Promise.all([running, catalog.refresh(), catalog.refresh()])
    assert.equal(catalog.snapshot().channels.get('main')?.version, retries)
  }
})

test('an unusable channel is left out with a reason, and the others work', async (t) => {
  const sql = await openDatabase(t)
  const shop = {
    channels: [channel('main'), channel('ref', { api_key: 'env:KEY' })],
    models: [model('small', { routes: [{ channel: 'ref' }, { channel: 'main' }] })],
  }
  await apply(sql, { 'shop.json': shop })
  const reasons: object[] = []
  const log = { ...silent, error: (fields: object) => void reasons.push(fields) }
  const { channels, models } = (await start(t, sql, { log, environment: {} })).snapshot()
  assert.deepEqual([...channels.keys()], ['main'])
  assert.equal(models.get('small')?.routes.length, 2)
  const reason = 'api_key: the environment variable KEY is not set'
  assert.deepEqual(reasons, [{ channel: 'ref', reason }])
  reasons.length = 0
  const stranger = createSecretBox([createSecretKey()])
  await start(t, sql, { log, environment: { KEY: 'sk-1' }, secrets: stranger })
  assert.match(JSON.stringify(reasons), /"main".*sealed with key/)
})

test('a failed reload is told, unless this process has closed its connections', async (t) => {
  const sql = await openDatabase(t)
  const told: string[] = []
  const log = { ...silent, warn: (_: object, message: string) => void told.push(message) }
  let code = ''
  let reads = 0
  const failing = new Proxy(sql, {
    apply(target, self, words) {
      if (code === '') return Reflect.apply(target, self, words)
      reads += 1
      return Promise.reject(Object.assign(new Error(code), { code }))
    },
  })
  await start(t, failing, { log, pollMs: 5 })
  for (const own of ['CONNECTION_ENDED', 'CONNECTION_DESTROYED']) {
    code = own
    const before = reads
    await until('some reads', () => reads > before + 3)
  }
  assert.deepEqual(told, [])
  code = 'CONNECTION_CLOSED'
  await until('a line', () => told.length > 0)
  assert.match(told[0] ?? '', /catalog reload failed/)
})
