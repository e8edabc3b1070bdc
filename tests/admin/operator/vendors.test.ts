/** Vendors over the admin API: presets, the review of a price book, adding what was chosen. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createSecretBox } from '../../../server/base/lib/secrets/secrets.ts'
import { applyCatalog } from '../../../server/money/catalog/apply/apply.ts'
import { parseCatalogFile } from '../../../server/money/catalog/apply/file.ts'
import { findVendor } from '../../../server/money/catalog/apply/vendors.ts'
import { UPSTREAMS } from '../../../server/wire/upstreams/index.ts'
import { type AdminStage, startAdmin } from '../support.ts'

const AS = { as: 'boss' }
const DEEPSEEK = { ...AS, params: { vendor_id: 'deepseek' } }
const REVIEW = 'GET /operator/vendors/:vendor_id'
const ADD = 'POST /operator/vendors/:vendor_id'
const KEY = 'sk-canary-of-a-vendor'

describe('vendors', { concurrency: false }, () => {
  let stage: AdminStage
  before(async () => {
    stage = await startAdmin()
    stage.enterOperator('boss')
  })
  after(() => stage.stop())

  const review = async () => {
    const { review: models, channels, dropped } = await stage.read(REVIEW, DEEPSEEK)
    return { models: new Map(models.map((one) => [one.id, one])), channels, dropped }
  }

  test('the list has display names, pages of keys and missing variables', async () => {
    const { data } = await stage.read('GET /operator/vendors', AS)
    assert.ok(data.length > 20)
    for (const { id, name, key_page: page, channels } of data) {
      assert.notEqual(name, id)
      const isKeyless = channels.every(({ variables }) => variables.length === 0)
      assert.equal(page === null, isKeyless, id)
      assert.ok(channels.every(({ upstream }) => UPSTREAMS.has(upstream)))
    }
    const found = data.find(({ id }) => id === 'deepseek')
    assert.deepEqual(found?.channels[0]?.variables, [
      { setting: 'api_key', variable: 'DEEPSEEK_API_KEY', is_set: false },
    ])
    assert.equal((await stage.ask(REVIEW, { ...AS, params: { vendor_id: 'nobody' } })).status, 404)
  })

  test('a review changes nothing, and says which channel is missing', async () => {
    const before = await stage.sql`select count(*)::int as n from model`
    const { models, channels } = await review()
    assert.ok(models.size >= 2)
    for (const one of models.values()) {
      assert.deepEqual([one.change, one.current], ['new', null])
      assert.deepEqual(one.missing_channels, ['deepseek'])
      assert.ok(one.book.prices.length > 0)
    }
    assert.deepEqual(
      channels.map(({ exists }) => exists),
      [false],
    )
    assert.deepEqual(await stage.sql`select count(*)::int as n from model`, before)
    const [first = ''] = models.keys()
    const alone = await stage.ask(ADD, { ...DEEPSEEK, body: { models: [first] } })
    assert.equal(alone.status, 400, alone.text)
    assert.match(alone.text, /there is no channel/)
  })

  test('a channel with its key and one model: the other models stay as they are', async () => {
    const [first = '', second = ''] = (await review()).models.keys()
    const channel = { preset: 'deepseek', id: 'deepseek', settings: { api_key: KEY } }
    const body = { channels: [channel], models: [first] }
    const added = await stage.ask(ADD, { ...DEEPSEEK, body })
    assert.equal(added.status, 200, added.text)
    assert.deepEqual(
      added.json.changes.map(({ kind, id, change }) => `${change} ${kind} ${id}`),
      ['added channel deepseek', `added model ${first}`],
    )
    const noted = stage.audited.map(({ details }) => details)
    assert.ok(!JSON.stringify([added.text, noted]).includes(KEY))
    assert.match(JSON.stringify(noted), /added channel deepseek/)
    const { settings } = await stage.read('GET /operator/channels/:channel_id', {
      ...AS,
      params: { channel_id: 'deepseek' },
    })
    assert.equal(settings.base_url, 'https://api.deepseek.com')
    assert.match(String(settings.api_key), /•|\*|…/)
    const { models } = await review()
    assert.deepEqual([models.get(first)?.change, models.get(second)?.change], ['unchanged', 'new'])
    assert.deepEqual(models.get(second)?.missing_channels, [])
    const more = await stage.ask(ADD, { ...DEEPSEEK, body: { models: [second] } })
    assert.deepEqual(
      more.json.changes.map(({ id }) => id),
      [second],
    )
  })

  test('the command line sees the same entries, and nothing of them changes', async () => {
    const vendor = await findVendor('deepseek')
    const file = parseCatalogFile(vendor.name, vendor.text, {})
    const diff = await applyCatalog({
      sql: stage.sql,
      files: [file],
      upstreams: Object.fromEntries(UPSTREAMS),
      environment: {},
      secrets: createSecretBox(['a-secret-key-that-only-tests-would-ever-use']),
      dryRun: true,
    })
    assert.deepEqual(
      diff.changes.filter(({ kind }) => kind === 'model'),
      [],
    )
  })

  test('a price of the operator’s own differs, until the price book is applied again', async () => {
    const [id = ''] = (await review()).models.keys()
    const { type, currency, routes, details, prices } = await stage.read(
      'GET /operator/models/:model_id',
      { ...AS, params: { model_id: id } },
    )
    const [cheapest, ...rest] = prices
    const plain = routes.map(({ channel, upstream_model }) => ({ channel, upstream_model }))
    await stage.read('PUT /operator/models/:model_id', {
      ...AS,
      params: { model_id: id },
      body: {
        type,
        currency: currency ?? 'CNY',
        routes: plain,
        details,
        prices: [{ ...cheapest, amount: '77' }, ...rest],
      },
    })
    const changed = (await review()).models.get(id)
    assert.deepEqual([changed?.change, changed?.is_own], ['changed', true])
    assert.equal(changed?.current?.prices[0]?.amount, '77')
    assert.deepEqual(changed?.book.prices[0]?.amount, cheapest?.amount)
    assert.ok(
      changed?.differences.some(({ path, from }) => path === 'prices[0].amount' && from === '"77"'),
    )
    await stage.read(ADD, { ...DEEPSEEK, body: { models: [id] } })
    const again = (await review()).models.get(id)
    assert.deepEqual([again?.change, again?.is_own], ['unchanged', false])
  })

  test('customers see models of their own currency, and no others', async () => {
    const { accountId } = await stage.house('cny')
    const groq = { ...AS, params: { vendor_id: 'groq' } }
    const { review: models } = await stage.read(REVIEW, groq)
    const foreign = models.find(({ book }) => book.currency === 'USD')
    const settings = { api_key: KEY }
    const channels = ['groq', 'groq-qwen'].map((id) => ({ preset: id, id, settings }))
    await stage.read(ADD, { ...groq, body: { channels, models: [foreign?.id] } })
    const params = { account_id: accountId }
    const list = await stage.read('GET /accounts/:account_id/models', {
      as: 'cny-member',
      params,
      query: { limit: '500' },
    })
    const seen = new Set(list.data.map(({ id }) => id))
    assert.ok(seen.has('sim-chat'))
    assert.ok(foreign && !seen.has(foreign.id))
  })

  test('what the price book lacks and names in use are refused', async () => {
    const none = await stage.ask(ADD, { ...DEEPSEEK, body: { models: ['gpt-none'] } })
    assert.equal(none.status, 400)
    assert.match(none.text, /the price book of deepseek has no/)
    const taken = { preset: 'deepseek', id: 'deepseek', settings: {} }
    const twice = await stage.ask(ADD, { ...DEEPSEEK, body: { channels: [taken] } })
    assert.equal(twice.status, 409)
    assert.match(twice.text, /"param":"id"/)
    const second = { preset: 'deepseek', id: 'deepseek-2', settings: { base_url: 'nonsense' } }
    const bad = await stage.ask(ADD, { ...DEEPSEEK, body: { channels: [second] } })
    assert.match(bad.text, /"param":"settings.base_url"/)
  })
})
