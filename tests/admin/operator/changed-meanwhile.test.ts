/** Two operators who edit one entry: the later one never undoes what the other has saved. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type AdminStage, startAdmin } from '../support.ts'

const MODEL = 'PUT /operator/models/:model_id'
const CHANNEL = 'PUT /operator/channels/:channel_id'
const LIST = 'PUT /operator/price-lists/:list_id'
const OWN = 'PUT /operator/accounts/:account_id/prices'

describe('entries changed since', { concurrency: false }, () => {
  let stage: AdminStage
  before(async () => {
    stage = await startAdmin()
    stage.enterOperator('boss')
    stage.enterOperator('tired', false)
  })
  after(() => stage.stop())

  /** Saves the revision that was read, then refuses it: it is no longer the one that is stored. */
  async function saveTwice(
    save: (amount: string, revision: string) => Promise<{ status: number; text: string }>,
    read: () => Promise<string>,
  ): Promise<void> {
    const opened = await read()
    const first = await save('2', opened)
    assert.equal(first.status, 200, first.text)
    const changed = await read()
    assert.notEqual(changed, opened)
    const second = await save('3', opened)
    assert.equal(second.status, 409, second.text)
    assert.deepEqual(JSON.parse(second.text), {
      error: 'this has changed since it was opened: open it again',
      type: 'conflict_error',
    })
    assert.equal(await read(), changed)
    assert.equal((await save('3', changed)).status, 200)
  }

  const model = (amount: string) => ({
    type: 'chat',
    prices: [
      { unit: 'input_token', per: 1_000_000, amount },
      { unit: 'output_token', per: 1_000_000, amount },
    ],
    routes: [{ channel: 'sim-openai', upstream_model: 'sim-chat' }],
  })
  const readModel = (id: string) =>
    stage.read('GET /operator/models/:model_id', { as: 'boss', params: { model_id: id } })

  test('a model: its prices stay as the first one saved them', async () => {
    const params = { model_id: 'edited' }
    await stage.read(MODEL, { as: 'boss', params, body: model('1'), isNew: true })
    await saveTwice(
      (amount, revision) => stage.ask(MODEL, { as: 'boss', params, body: model(amount), revision }),
      async () => (await readModel('edited')).revision,
    )
    assert.equal((await readModel('edited')).prices[0]?.amount, '3')
  })

  test('a model whose planned prices have begun since', async () => {
    const params = { model_id: 'planned' }
    await stage.read(MODEL, { as: 'boss', params, body: model('1'), isNew: true })
    const { revision, prices } = await readModel('planned')
    await stage.sql`
      insert into price (model_id, currency, prices, effective_from)
      select model_id, currency, ${JSON.stringify(prices)}::text::jsonb || '[]', clock_timestamp()
      from price where model_id = 'planned'`
    assert.equal((await readModel('planned')).revision, revision)
    await stage.sql`
      insert into price (model_id, currency, prices, effective_from)
      select model_id, currency, jsonb_set(prices, '{0,amount}', '"9"'), clock_timestamp()
      from price where model_id = 'planned' limit 1`
    const late = await stage.ask(MODEL, { as: 'boss', params, body: model('1'), revision })
    assert.equal(late.status, 409)
    assert.equal((await readModel('planned')).prices[0]?.amount, '9')
  })

  test('a channel', async () => {
    const params = { channel_id: 'edited' }
    const settings = { base_url: 'https://vendor.test/v1', api_key: 'sk-1' }
    const body = { upstream: 'openai-compatible', settings }
    await stage.read(CHANNEL, { as: 'boss', params, body, isNew: true })
    const of = (path: string) => ({
      ...body,
      settings: { ...settings, base_url: `https://vendor.test/v${path}` },
    })
    await saveTwice(
      (path, revision) => stage.ask(CHANNEL, { as: 'boss', params, body: of(path), revision }),
      async () => {
        const read = await stage.read('GET /operator/channels/:channel_id', { as: 'boss', params })
        return read.revision
      },
    )
  })

  test('planned prices: a save of before, which may withdraw them, is refused', async () => {
    const params = { model_id: 'plans' }
    await stage.read(MODEL, { as: 'boss', params, body: model('1'), isNew: true })
    const { revision } = await readModel('plans')
    const body = { effective_from: '2999-01-01T00:00:00.000Z', prices: model('2').prices }
    const plan = 'POST /operator/models/:model_id/planned-prices'
    await stage.read(plan, { as: 'boss', params, body })
    const inDollars = { ...model('1'), currency: 'USD' }
    const save = (opened: string) =>
      stage.ask(MODEL, { as: 'boss', params, body: inDollars, revision: opened })
    assert.equal((await save(revision)).status, 409)
    const { planned_prices: plans, revision: now } = await readModel('plans')
    assert.equal(plans.length, 1)
    assert.equal((await save(now)).status, 200)
    assert.deepEqual((await readModel('plans')).planned_prices, [])
  })

  test('one that was retired since stays retired, and is brought back on purpose', async () => {
    const params = { model_id: 'gone' }
    const save = (revision: string) =>
      stage.ask(MODEL, { as: 'boss', params, body: model('1'), revision })
    await stage.read(MODEL, { as: 'boss', params, body: model('1'), isNew: true })
    const { revision } = await readModel('gone')
    await stage.ask('DELETE /operator/models/:model_id', { as: 'boss', params })
    assert.equal((await save(revision)).status, 409)
    const retired = await readModel('gone')
    assert.equal(retired.status, 'retired')
    assert.equal((await save(retired.revision)).status, 200)

    const channel = { channel_id: 'gone' }
    const settings = { base_url: 'https://vendor.test/v1', api_key: 'sk-1' }
    const body = { upstream: 'openai-compatible', settings }
    const put = (revision: string) =>
      stage.ask(CHANNEL, { as: 'boss', params: channel, body, revision })
    const read = () =>
      stage.read('GET /operator/channels/:channel_id', { as: 'boss', params: channel })
    await stage.read(CHANNEL, { as: 'boss', params: channel, body, isNew: true })
    const opened = await read()
    await stage.ask('DELETE /operator/channels/:channel_id', { as: 'boss', params: channel })
    assert.equal((await put(opened.revision)).status, 409)
    const closed = await read()
    assert.equal(closed.status, 'retired')
    assert.equal((await put(closed.revision)).status, 200)
    assert.equal((await read()).status, 'active')
  })

  test('a price list, also one that is gone', async () => {
    const params = { list_id: 'gold' }
    const body = (factor: string) => ({ default: { of: 'parent', factor } })
    await stage.read(LIST, { as: 'boss', params, body: body('1'), isNew: true })
    const read = async () =>
      (await stage.read('GET /operator/price-lists/:list_id', { as: 'boss', params })).revision
    await saveTwice(
      (factor, revision) => stage.ask(LIST, { as: 'boss', params, body: body(factor), revision }),
      read,
    )
    const revision = await read()
    await stage.ask('DELETE /operator/price-lists/:list_id', { as: 'boss', params })
    const late = await stage.ask(LIST, { as: 'boss', params, body: body('4'), revision })
    assert.equal(late.status, 409)
  })

  test('the own prices of an account, from the first on', async () => {
    const { accountId } = await stage.house('rivers')
    const params = { account_id: accountId }
    const body = (factor: string) => ({ default: { of: 'parent', factor } })
    await saveTwice(
      (factor, revision) => stage.ask(OWN, { as: 'boss', params, body: body(factor), revision }),
      async () => {
        const read = { as: 'boss', params }
        return (await stage.read('GET /operator/accounts/:account_id/prices', read)).own_revision
      },
    )
  })

  test('is refused before a step-up', async () => {
    const params = { model_id: 'edited' }
    const late = { as: 'tired', params, body: model('4'), revision: 'of before' }
    assert.equal((await stage.ask(MODEL, late)).status, 409)
    const { revision } = await readModel('edited')
    const { status, text } = await stage.ask(MODEL, { ...late, revision })
    assert.equal(status, 403)
    assert.match(text, /step_up_required/)
  })
})
