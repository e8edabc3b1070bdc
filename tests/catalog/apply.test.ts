/** `apply` on real PostgreSQL: declarative, idempotent, one transaction, safe when concurrent. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CatalogError } from '../../server/money/catalog/apply/file.ts'
import { readRevision } from '../../server/money/catalog/store.ts'
import { apply, changes, channel, model, openDatabase, simple } from './support.ts'

const refusal = (expected: RegExp) => (error: unknown) =>
  error instanceof CatalogError && expected.test(error.message)

test('applying again changes nothing, in any order of members', async (t) => {
  const sql = await openDatabase(t)
  const first = apply(sql, { 'shop.json': simple })
  assert.deepEqual(await changes(first), ['added channel main', 'added model small'])
  assert.equal((await first).revision, 1n)
  const reordered = JSON.parse(JSON.stringify(simple), (_, value) =>
    value && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).reverse())
      : value,
  )
  const again = await apply(sql, { 'shop.json': reordered })
  assert.deepEqual([again.changes, again.revision], [[], 1n])
  const [counts] = await sql`select (select count(*) from price) as prices,
    (select count(*) from channel_version) as versions`
  assert.deepEqual({ ...counts }, { prices: 1n, versions: 1n })
})

test('only a change of prices or settings makes a new version', async (t) => {
  const sql = await openDatabase(t)
  await apply(sql, { 'shop.json': simple })
  const same = model('small', {
    prices: [
      { unit: 'input_token', per: 1000, amount: '0.1' },
      { unit: 'output_token', per: 1000, amount: '0.300' },
    ],
    limits: { max_output_tokens: 5 },
  })
  const next = { channels: [channel('main', { retries: 1 })], models: [same] }
  assert.deepEqual(await changes(apply(sql, { 'shop.json': next })), [
    'changed channel main (settings)',
    'changed model small (limits)',
  ])
  const dearer = {
    ...simple,
    models: [model('small', { prices: [{ unit: 'call', amount: '1' }] })],
  }
  const diff = await changes(apply(sql, { 'shop.json': dearer }))
  assert.deepEqual(diff, [
    'changed channel main (settings)',
    'changed model small (prices, limits)',
  ])
  const versions = await sql`select version, prices from price order by version`
  assert.equal(versions.length, 2)
  const [row] = await sql`select price_version from model`
  assert.equal(row?.price_version, versions[1]?.version)
})

test('entries that a file no longer names are retired, those of other files are not', async (t) => {
  const sql = await openDatabase(t)
  await apply(sql, {
    'one.json': { channels: [channel('main')], models: [model('a'), model('b')] },
    'two.json': { channels: [channel('second')], models: [model('c')] },
  })
  const less = { channels: [channel('main')], models: [model('a')] }
  assert.deepEqual(await changes(apply(sql, { 'one.json': less })), ['retired model b'])
  assert.deepEqual(await changes(apply(sql, { 'x/one.json': less })), [])
  const back = { channels: [channel('main')], models: [model('a'), model('b')] }
  assert.deepEqual(await changes(apply(sql, { 'one.json': back })), ['changed model b (status)'])
  assert.deepEqual(await changes(apply(sql, { 'new.json': simple }, { replace: true })), [
    'changed channel main (source (was one))',
    'added model small',
    'retired channel second',
    'retired model a',
    'retired model b',
    'retired model c',
  ])
})

test('the file applied last owns an entry', async (t) => {
  const sql = await openDatabase(t)
  await apply(sql, { 'one.json': simple })
  await apply(sql, { 'two.json': simple })
  assert.deepEqual(await changes(apply(sql, { 'one.json': {} })), [])
  assert.deepEqual(await changes(apply(sql, { 'two.json': {} })), [
    'retired channel main',
    'retired model small',
  ])
})

test('mistakes across entries are reported with their path, and nothing is written', async (t) => {
  const sql = await openDatabase(t)
  const twice = { channels: [channel('main'), channel('main')], models: [model('a'), model('a')] }
  const refused = async (files: Record<string, object>, expected: RegExp) => {
    await assert.rejects(apply(sql, files), refusal(expected))
    assert.equal(await readRevision(sql), 0n)
  }
  await refused(
    { 'a.json': twice },
    /^a\.json: channels\[1\]\.id: "main" is also a\.json: channels/,
  )
  await refused({ 'a.json': twice }, /a\.json: models\[1\]\.id: "a" is also a\.json: models\[0\]/)
  await refused(
    { 'a.json': simple, 'b.json': simple },
    /b\.json: channels\[0\]\.id: "main" is also/,
  )
  await refused(
    { 'a.json': { channels: [{ id: 'm', upstream: 'plane' }] } },
    /^a\.json: channels\[0\]\.upstream: there is no upstream "plane"; known: other, plain$/,
  )
  await refused(
    { 'a.json': { channels: [{ id: 'm', upstream: 'constructor' }] } },
    /there is no upstream "constructor"/,
  )
  await refused(
    { 'a.json': { channels: [channel('m', { base_url: 'nowhere', retires: 1 })] } },
    /channels\[0\]\.settings\.base_url: .*\n.*channels\[0\]\.settings\.retires: unknown field$/,
  )
  await refused(
    { 'a.json': { ...simple, models: [model('x', { routes: [{ channel: 'mian' }] })] } },
    /^a\.json: models\[0\]\.routes\[0\]\.channel: there is no channel "mian"$/,
  )
})

test('a channel with a route of another file cannot be retired', async (t) => {
  const sql = await openDatabase(t)
  await apply(sql, { 'one.json': { channels: [channel('main')] } })
  await apply(sql, { 'two.json': { models: [model('a')] } })
  const expected = /the channel "main" is still used by the model "a" of "two"/
  await assert.rejects(apply(sql, { 'one.json': {} }), refusal(expected))
})

test('a dry run reports the same changes and makes none', async (t) => {
  const sql = await openDatabase(t)
  const dry = await apply(sql, { 'shop.json': simple }, { dryRun: true })
  assert.equal(dry.changes.length, 2)
  assert.equal(await readRevision(sql), 0n)
  assert.equal((await sql`select 1 from model`).length, 0)
})

test('concurrent applies leave the state of one of them', async (t) => {
  const sql = await openDatabase(t)
  const variants = ['1', '2', '3', '4', '5', '6', '7', '8'].map((amount) => ({
    channels: [channel('main', { retries: Number(amount) })],
    models: [model('small', { prices: [{ unit: 'call', amount }] })],
  }))
  const diffs = await Promise.all(variants.map((shop) => apply(sql, { 'shop.json': shop })))
  assert.equal(new Set(diffs.map(({ revision }) => revision)).size, 8)
  assert.equal(await readRevision(sql), 8n)
  const [row] =
    await sql`select v.settings ->> 'retries' as retries, p.prices -> 0 ->> 'amount' as amount
    from channel c join channel_version v on v.channel_id = c.id and v.version = c.version,
      model m join price p on p.version = m.price_version`
  assert.equal(row?.retries, row?.amount)
  assert.equal((await sql`select 1 from channel_version`).length, 8)
})

test('a secret is encrypted at rest, an env: reference stays readable', async (t) => {
  const sql = await openDatabase(t)
  const files = {
    'shop.json': { channels: [channel('main'), channel('ref', { api_key: 'env:KEY' })] },
  }
  const { warnings } = await apply(sql, files)
  assert.match(warnings.join(), /channel ref: KEY is not set here/)
  const rows = await sql`select settings, secrets from channel_version order by channel_id`
  assert.equal(JSON.stringify(rows).includes('sk-plain-text'), false)
  assert.ok(rows[0]?.secrets.length > 40)
  assert.equal(rows[0]?.secrets.includes('sk-plain-text'), false)
  assert.equal(rows[1]?.settings.api_key, 'env:KEY')
  assert.equal(rows[1]?.secrets, null)
  const other = {
    'shop.json': {
      channels: [channel('main', { api_key: 'sk-other' }), files['shop.json'].channels[1]],
    },
  }
  assert.deepEqual(await changes(apply(sql, other)), ['changed channel main (settings)'])
})

test('prices that may leave a call unpriced cause a warning', async (t) => {
  const sql = await openDatabase(t)
  const thinking = { unit: 'call', amount: '1', when: { thinking: 'on' } }
  const prices = [thinking, thinking]
  const long = { unit: 'call', amount: '2', when: { input_token: { min: 272_001 } } }
  const misspelt = [long, { unit: 'call', amount: '1' }]
  const tokens = [
    { unit: 'input_token', per: 1_000_000, amount: '1' },
    { unit: 'output_token', per: 1_000_000, amount: '2' },
  ]
  const from = '2099-01-01T00:00:00.000Z'
  const routes = [{ channel: 'main', costs: tokens }]
  const plan = { from, prices: tokens.slice(0, 1) }
  const models = [
    model('a', { prices }),
    model('b', { prices: misspelt }),
    model('c', { prices: tokens, planned_prices: [plan], routes }),
  ]
  const price_lists = [{ id: 'vip', prices: { c: tokens.slice(1) } }]
  const shop = { channels: [channel('main')], models, price_lists }
  const { warnings } = await apply(sql, { 'shop.json': shop })
  assert.deepEqual(warnings, [
    'model a: call has no price if none of its conditions holds',
    'model a: prices[1] never applies: prices[0] holds for all of its calls',
    'model b: prices[0] never applies: no call has a fact "input_token"',
    `model c from ${from}: output_token has no price, although a route has costs for it`,
    'price list vip: no price, although a route has costs: c (input_token)',
  ])
})

test('a chat model that gives tokens away causes a warning, at its own prices and a list’s', async (t) => {
  const sql = await openDatabase(t)
  const by = (unit: string) => [{ unit, amount: '1' }]
  const list = { id: 'vip', default: { of: 'parent', factor: '1' }, prices: { b: by('second') } }
  const from = '2099-01-01T00:00:00.000Z'
  const shop = {
    channels: [channel('main')],
    models: [
      model('a', { prices: by('second') }),
      model('b', { prices: by('call') }),
      model('c', { planned_prices: [{ from, prices: [{ ...by('input_token')[0], per: 1 }] }] }),
    ],
    price_lists: [list],
  }
  const { warnings } = await apply(sql, { 'shop.json': shop })
  assert.deepEqual(warnings, [
    'model a: input_token has no price: such tokens cost nothing',
    'model a: output_token has no price: such tokens cost nothing',
    `model c from ${from}: output_token has no price: such tokens cost nothing`,
    'price list vip: no price, so such tokens cost nothing: ' +
      'a (input_token), b (input_token), c (output_token)',
  ])
})
