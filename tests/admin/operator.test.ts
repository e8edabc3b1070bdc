/** What operators can do over the admin API: accounts, money, channels, models, codes, books. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { INVARIANTS_IN_CHINESE } from '../../console/src/features/operator-proof/invariants-in-chinese.ts'
import { createSecretBox, createSecretKey } from '../../server/base/lib/secrets/secrets.ts'
import { writeCheckpoint } from '../../server/money/ledger/books/write-checkpoint.ts'
import { type AdminStage, startAdmin } from './support.ts'

const MIGRATIONS = join(import.meta.dirname, '..', '..', 'migrations')
const AS = { as: 'boss' }

describe('operators', () => {
  let stage: AdminStage
  before(async () => {
    stage = await startAdmin()
    stage.enterOperator('boss')
    stage.enterOperator('tired', false)
    await stage.house('home')
  })
  after(() => stage.stop())

  const createAccount = (body: object) => stage.ask('POST /operator/accounts', { ...AS, body })

  test('an account is created, found, limited, suspended and resumed; its calls follow', async () => {
    const made = await createAccount({ name: 'Mill 100%_', balance: '12.5' })
    assert.equal(made.status, 200, made.text)
    const params = { account_id: made.json.id }
    assert.deepEqual([made.json.available, made.json.status], ['12.5', 'active'])
    const found = await stage.read('GET /operator/accounts', { ...AS, query: { search: '0%_' } })
    assert.deepEqual(
      found.data.map(({ id }) => id),
      [made.json.id],
    )
    const key = 'PATCH /operator/accounts/:account_id'
    const limited = await stage.read(key, {
      ...AS,
      params,
      body: { name: 'Mill', limits: { concurrent_calls: 3 } },
    })
    assert.deepEqual([limited.name, limited.limits], ['Mill', { concurrent_calls: 3 }])
    const lifted = await stage.read(key, {
      ...AS,
      params,
      body: { limits: { concurrent_calls: null } },
    })
    assert.deepEqual(lifted.limits, {})
    const body = { reason: 'unpaid' }
    const suspend = 'POST /operator/accounts/:account_id/suspend'
    assert.equal((await stage.read(suspend, { ...AS, params, body })).status, 'suspended')
    assert.deepEqual(stage.audited.at(-1)?.details, { reason: 'unpaid', outcome: 'done' })
    const resume = 'POST /operator/accounts/:account_id/resume'
    assert.equal((await stage.read(resume, { ...AS, params })).status, 'active')
  })

  test('credits: posted once per event, debited at most up to the balance', async () => {
    const made = await createAccount({ name: 'Dam' })
    const params = { account_id: made.json.id }
    const key = 'POST /operator/accounts/:account_id/credits'
    const credit = (body: object) => stage.ask(key, { ...AS, params, body })
    const first = await credit({ amount: '5', reason: 'invoice 1', event_id: 'pay_1' })
    assert.deepEqual([first.json.posted, first.json.account.available], [true, '5'])
    const again = await credit({ amount: '5', reason: 'invoice 1', event_id: 'pay_1' })
    assert.deepEqual([again.json.posted, again.json.account.available], [false, '5'])
    for (const [body, problem] of [
      [{ amount: '-9', kind: 'adjustment', reason: 'x' }, /^amount: at most 5 CNY can be taken$/],
      [{ amount: '9', kind: 'forgiveness', reason: 'x' }, /^amount: at most 0 CNY is owed$/],
      [{ amount: '-1', reason: 'x' }, /^amount: only an adjustment can be negative$/],
      [{ amount: '0', reason: 'x' }, /^amount: zero/],
      [{ amount: 'ten', reason: 'x' }, /^amount: must be a decimal/],
      [{ amount: '1000000000', reason: 'x' }, /^amount: .* below 1000000000$/],
      [{ amount: '1', reason: ' ' }, /^reason: /],
      [{ amount: '6', reason: 'x', event_id: 'pay_1' }, /^event pay_1 was posted to another /],
    ] as const) {
      const answer = await credit(body)
      assert.equal(answer.status, 400, JSON.stringify(body))
      assert.match(JSON.parse(answer.text).error, problem)
    }
    const list = 'GET /operator/accounts/:account_id/credits'
    const { data } = await stage.read(list, { ...AS, params })
    assert.deepEqual(
      data.map(({ amount, actor, event_id: event }) => [amount, actor, event]),
      [['5', 'boss@example.com', 'pay_1']],
    )
  })

  test('money, prices and channels require a step-up', async () => {
    const tired = { as: 'tired', params: { account_id: 'acct_x', channel_id: 'c', model_id: 'm' } }
    const prices = [{ unit: 'input_token', per: 1_000_000, amount: '1' }]
    const routes = [{ channel: 'sim-openai', upstream_model: 'sim-chat' }]
    const settings = { base_url: 'https://vendor.test/v1', api_key: 'sk-0123456789' }
    for (const [key, body] of [
      ['POST /operator/accounts', { name: 'A' }],
      ['POST /operator/accounts/:account_id/credits', { amount: '1', reason: 'x' }],
      ['PUT /operator/channels/:channel_id', { upstream: 'openai-compatible', settings }],
      ['PUT /operator/models/:model_id', { type: 'chat', prices, routes }],
      ['POST /operator/redeem-codes', { amount: '1', count: 1 }],
    ] as const) {
      const answer = await stage.ask(key, { ...tired, body })
      assert.equal(answer.status, 403, `${key} ${answer.text}`)
      assert.equal(JSON.parse(answer.text).type, 'step_up_required')
      assert.deepEqual(stage.audited.at(-1)?.details.outcome, 'step_up_required')
    }
    const { data } = await stage.read('GET /operator/channels', AS)
    assert.ok(data.every(({ id }) => id !== 'c'))
  })

  test('a draft is refused with all its mistakes, unlogged, before a step-up', async () => {
    const rows = stage.audited.length
    const ask = async (
      key: 'PUT /operator/channels/:channel_id' | 'POST /operator/accounts',
      body: object,
      id = 'c',
    ) => {
      const answer = await stage.ask(key, { as: 'tired', params: { channel_id: id }, body })
      assert.equal(answer.status, 400, answer.text)
      const { param, problems, error } = JSON.parse(answer.text)
      const params = problems.map((one: { param: string }) => one.param)
      assert.equal(param, params[0])
      for (const one of params) assert.ok(error.includes(`${one}: `), error)
      return params
    }
    const account = { currency: 'XYZ' }
    assert.deepEqual(await ask('POST /operator/accounts', account), ['name', 'currency'])
    const settings = { base_url: 'nonsense', max_concurrency: 'many' }
    const channel = { upstream: 'openai-compatible', settings }
    const found = await ask('PUT /operator/channels/:channel_id', channel)
    assert.ok(found.length >= 2, found.join())
    assert.ok(found.includes('settings.base_url'), found.join())
    const badName = 'PUT /operator/channels/:channel_id'
    const both = await ask(badName, channel, 'not a name')
    assert.deepEqual([both[0], both.includes('settings.base_url')], ['id', true])
    assert.equal(stage.audited.length, rows)
  })

  test('a channel: its secret is stored, kept if omitted, and never returned', async () => {
    const key = 'PUT /operator/channels/:channel_id'
    const params = { channel_id: 'own' }
    const put = (settings: object) =>
      stage.ask(key, { ...AS, params, body: { upstream: 'openai-compatible', settings } })
    const secret = 'sk-canary-of-a-channel-0123456789'
    const base_url = `${stage.simulators.url}/openai/v1`
    const made = await put({ base_url, api_key: secret })
    assert.equal(made.status, 200, made.text)
    const { health, secrets } = made.json
    assert.deepEqual(
      [health.state, secrets],
      ['untried', ['api_key', 'api_keys', 'headers', 'query']],
    )
    const changed = await put({ base_url: `${base_url}/`, organization: 'o' })
    assert.deepEqual([changed.json.version, changed.json.health.state], [2, 'untried'])
    for (const one of [made.text, changed.text]) assert.ok(!one.includes(secret))
    const bad = await put({ base_url: 'nonsense', api_key: secret })
    assert.equal(bad.status, 400)
    assert.match(JSON.parse(bad.text).error, /settings\.base_url/)
    assert.equal(JSON.parse(bad.text).param, 'settings.base_url')
    assert.ok(!bad.text.includes(secret))
    // The vendor does not know this key.
    const tested = await stage.read('POST /operator/channels/:channel_id/test', { ...AS, params })
    assert.deepEqual(
      [tested.ok, tested.steps.map(({ step }) => step)],
      [false, ['settings', 'address', 'connection', 'key']],
    )
    const model = 'PUT /operator/models/:model_id'
    const prices = [{ unit: 'input_token', per: 1_000_000, amount: '1' }]
    const routes = [{ channel: 'own', upstream_model: 'sim-chat' }]
    const body = { type: 'chat', prices, routes }
    const added = await stage.ask(model, { ...AS, params: { model_id: 'mine/a' }, body })
    assert.equal(added.status, 200, added.text)
    const dearer = { ...body, prices: [{ ...prices[0], amount: '2' }] }
    await stage.read(model, { ...AS, params: { model_id: 'mine/a' }, body: dearer })
    const one = 'GET /operator/models/:model_id'
    const { price_history: history } = await stage.read(one, {
      ...AS,
      params: { model_id: 'mine/a' },
    })
    assert.deepEqual(
      history.map(({ prices: [first] }) => first?.amount),
      ['2', '1'],
    )
    const unpriced = await stage.ask(model, {
      ...AS,
      params: { model_id: 'gift' },
      body: { type: 'chat', routes },
    })
    assert.match(JSON.parse(unpriced.text).error, /needs a price/)
    const retire = 'DELETE /operator/channels/:channel_id'
    assert.equal((await stage.ask(retire, { ...AS, params })).status, 409)
    const gone = 'DELETE /operator/models/:model_id'
    assert.equal((await stage.ask(gone, { ...AS, params: { model_id: 'mine/a' } })).status, 204)
    assert.equal((await stage.ask(retire, { ...AS, params })).status, 204)
    assert.equal((await stage.ask(retire, { ...AS, params })).status, 404)
  })

  test('a redeem code is created, redeemed once, and withdrawn while it is unused', async () => {
    const make = { count: 2, amount: '3', note: 'fair' }
    const { data } = await stage.read('POST /operator/redeem-codes', { ...AS, body: make })
    const [first, second] = data
    const house = await stage.house('fair', '0')
    const redeem = 'POST /accounts/:account_id/redeem'
    const use = (code = '') =>
      stage.ask(redeem, {
        as: 'fair-owner',
        params: { account_id: house.accountId },
        body: { code },
      })
    assert.equal((await use(first?.code)).json.available, '3')
    assert.equal((await use(first?.code)).status, 400)
    const take = (id = '') =>
      stage.ask('DELETE /operator/redeem-codes/:code_id', { ...AS, params: { code_id: id } })
    assert.equal((await take(second?.id)).status, 204)
    assert.equal((await take(first?.id)).status, 409)
    assert.equal((await use(second?.code)).status, 400)
    const list = await stage.read('GET /operator/redeem-codes', AS)
    assert.deepEqual(list.data.map(({ state }) => state).sort(), ['used', 'voided'])
    assert.ok(!JSON.stringify(list).includes(first?.code ?? '-'))
    const find = async (query: Record<string, string>) =>
      (await stage.read('GET /operator/redeem-codes', { ...AS, query })).data.map(({ id }) => id)
    assert.deepEqual(await find({ state: 'voided' }), [second?.id])
    assert.deepEqual(await find({ search: house.accountId }), [first?.id])
    assert.deepEqual(await find({ search: second?.code.slice(-5) ?? '' }), [second?.id])
    assert.deepEqual(await find({ search: 'fairs' }), [])
  })

  test('calls of all accounts, revenue, and books that agree', async () => {
    const tenant = await stage.tenant()
    const called = await stage.post('/v1/search', tenant.key, { Type: 'web', Query: 'rivers' })
    assert.equal(called.status, 200)
    const query = { account: tenant.accountId }
    const calls = await stage.read('GET /operator/calls', { ...AS, query })
    const [call] = calls.data
    assert.deepEqual(
      [calls.data.length, call?.request_id, call?.channel, call?.end_user],
      [1, called.headers.get('x-request-id'), 'sim-search', null],
    )
    const overview = await stage.read('GET /operator/overview', AS)
    const [currency] = overview.currencies
    assert.ok(Number(currency?.revenue) >= Number(call?.charged))
    assert.ok(overview.accounts.some((one) => one.account_id === tenant.accountId))
    const audit = await stage.read('POST /operator/proof/audit', AS)
    assert.deepEqual([audit.ok, audit.checks.every(({ ok }) => ok)], [true, true])
    const named = audit.checks.map(({ title }) => title).sort()
    assert.deepEqual(named, Object.keys(INVARIANTS_IN_CHINESE).sort(), 'each is worded in Chinese')
    const proof = await stage.read('GET /operator/proof', AS)
    assert.equal(proof.last_audit?.ok, true)
    assert.equal(proof.last_checkpoint, null)
    const signed = await writeCheckpoint(stage.sql, createSecretBox([createSecretKey()]), '1')
    const { last_checkpoint: checkpoint, sealed } = await stage.read('GET /operator/proof', AS)
    const { block, hash, entries, key_id } = signed.statement
    const at = signed.statement.created_at
    assert.deepEqual(checkpoint, { block, hash, entries, key_id, at, intact: true })
    assert.ok(sealed && sealed.block >= block)
    const [totals] = proof.totals
    const sum = Number(totals?.available) + Number(totals?.held) + Number(totals?.revenue)
    assert.ok(Math.abs(sum - Number(totals?.debt) - Number(totals?.topped_up)) < 1e-6)
  })

  test('the state of the gateway, without a secret', async () => {
    const { text, json } = await stage.ask('GET /operator/system', AS)
    assert.equal(json.gateways.filter((one) => one.this).length, 1)
    assert.deepEqual(
      json.database.migrations,
      readdirSync(MIGRATIONS)
        .filter((name) => name.endsWith('.sql'))
        .sort(),
    )
    assert.ok(!text.includes('a-secret-key-that-only-tests-would-ever-use'))
    for (const { name, value, default: usual, changed } of json.configuration) {
      assert.deepEqual([name, changed], [name, value !== usual])
      assert.doesNotMatch(value, /\(default\)/)
    }
  })

  test('cursors page through every list and refuse nonsense', async () => {
    for (let index = 0; index < 3; index += 1) await createAccount({ name: `page ${index}` })
    const query = { limit: '2', search: 'page' }
    const first = await stage.read('GET /operator/accounts', { ...AS, query })
    const cursor = first.next_cursor ?? ''
    const rest = await stage.read('GET /operator/accounts', { ...AS, query: { ...query, cursor } })
    assert.deepEqual(
      [...first.data, ...rest.data].map(({ name }) => name),
      ['page 2', 'page 1', 'page 0'],
    )
    assert.equal(rest.next_cursor, null)
    const bad = await stage.ask('GET /operator/audit-log', { ...AS, query: { cursor: 'x' } })
    assert.equal(bad.status, 400)
    const none = await stage.ask('GET /operator/calls', { ...AS, query: { limit: '0' } })
    assert.equal(none.status, 400)
  })
})
