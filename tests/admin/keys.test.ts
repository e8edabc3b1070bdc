/** The life of a key in the console. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Tenant } from '../support/in-process.ts'
import { until } from '../support/until.ts'
import { type AdminStage, startAdmin } from './support.ts'

const LIST = 'GET /accounts/:account_id/keys'
const CREATE = 'POST /accounts/:account_id/keys'
const ONE = 'GET /accounts/:account_id/keys/:key_id'
const CHANGE = 'PATCH /accounts/:account_id/keys/:key_id'
const ROTATE = 'POST /accounts/:account_id/keys/:key_id/rotate'

describe('keys', () => {
  let stage: AdminStage
  let home: Tenant
  before(async () => {
    stage = await startAdmin()
    home = await stage.house('home')
    await stage.house('other')
  })
  after(() => stage.stop())

  const at = (keyId = '') => ({ account_id: home.accountId, key_id: keyId })
  const create = (body: object) => stage.read(CREATE, { as: 'home-owner', params: at(), body })

  test('one is shown once, works, and is found again without its text', async () => {
    const created = await create({ name: ' web ', spend_limit: '12.5', models: ['sim-chat'] })
    assert.match(created.key, /^tr-/)
    assert.equal(created.name, 'web')
    const models = await stage.fetch('/v1/models', { key: created.key })
    assert.equal(models.status, 200)
    const { text } = await stage.ask(ONE, { as: 'home-member', params: at(created.id) })
    assert.ok(!text.includes(created.key))
    const { key: _key, ...rest } = created
    assert.deepEqual(JSON.parse(text), rest)
    assert.deepEqual(stage.audited.at(-1)?.details, { key_id: created.id, outcome: 'done' })
  })

  test('a disabled key is refused, an enabled one works again', async () => {
    const { id, key } = await create({})
    const disable = 'POST /accounts/:account_id/keys/:key_id/disable'
    const disabled = await stage.read(disable, { as: 'home-owner', params: at(id), body: {} })
    assert.equal(disabled.state, 'disabled')
    assert.equal((await stage.fetch('/v1/models', { key })).status, 401)
    const enable = 'POST /accounts/:account_id/keys/:key_id/enable'
    await stage.read(enable, { as: 'home-owner', params: at(id), body: {} })
    // The refusal was remembered; a notification forgets it, or at the latest its age.
    await until('a key that calls again', async () => {
      return (await stage.fetch('/v1/models', { key })).status === 200 ? true : undefined
    })
  })

  test('a change keeps omitted members, and null removes a limit', async () => {
    const { id } = await create({ name: 'a', limits: { concurrent_calls: 3 }, spend_limit: '5' })
    const change = (body: object) => stage.read(CHANGE, { as: 'home-owner', params: at(id), body })
    const first = await change({ limits: { requests_per_minute: 60 } })
    assert.deepEqual(first.limits, { concurrent_calls: 3, requests_per_minute: 60 })
    assert.equal(first.spend_limit, '5')
    const second = await change({ spend_limit: null, limits: { concurrent_calls: null } })
    assert.equal(second.spend_limit, null)
    assert.deepEqual(second.limits, { requests_per_minute: 60 })
    assert.equal(second.name, 'a')
    const third = await change({ allowed_ips: ['10.1.2.3/8', '::ffff:10.0.0.0/104'] })
    assert.deepEqual(third.allowed_ips, ['10.0.0.0/8'])
    assert.deepEqual((await change({ name: 'b' })).allowed_ips, ['10.0.0.0/8'])
    assert.deepEqual((await change({ allowed_ips: [] })).allowed_ips, [])
  })

  test('an invalid value is refused with its field', async () => {
    const bad: object[] = [
      { spend_limit: '1e9' },
      { spend_limit: '-1' },
      { models: ['a\0b'] },
      { name: 7 },
    ]
    bad.push({ allowed_ips: ['10.0.0.0/33'] }, { allowed_ips: '10.0.0.0/8' })
    for (const body of bad) {
      const { status } = await stage.ask(CREATE, { as: 'home-owner', params: at(), body })
      assert.equal(status, 400, JSON.stringify(body))
    }
    const past = { expires_at: '2020-01-01T00:00:00Z' }
    const { status, text } = await stage.ask(CREATE, { as: 'home-owner', params: at(), body: past })
    assert.equal(status, 400)
    assert.match(text, /future/)
  })

  test('a model that the catalog lacks is refused, unless the key has it already', async () => {
    const models = ['retiring', 'sim-chat']
    const ask = (key: typeof CREATE | typeof CHANGE, id: string, body: object) =>
      stage.ask(key, { as: 'home-owner', params: at(id), body })
    const unknown = await ask(CREATE, '', { models: ['sim-chat', 'gtp-5'] })
    assert.equal(unknown.status, 400)
    assert.match(unknown.text, /models\[1\]: there is no model 'gtp-5': GET \/v1\/models lists/)
    const routes = [{ channel: 'sim-openai', upstream_model: 'sim-chat' }]
    const retiring = { id: 'retiring', type: 'chat', free: true, routes }
    await stage.apply({ models: [retiring] }, 'retiring')
    const { id } = await create({ models })
    await stage.apply({ models: [] }, 'retiring')
    assert.equal((await ask(CREATE, '', { models })).status, 400)
    assert.equal((await ask(CHANGE, id, { models: ['retiring'] })).status, 200)
    assert.equal((await ask(CHANGE, id, { models: ['gtp-5'] })).status, 400)
    assert.equal((await ask(CHANGE, id, { models: null })).status, 200)
  })

  test('a rotation leaves the old one for the overlap', async () => {
    const old = await create({ name: 'turning' })
    const rotated = await stage.read(ROTATE, {
      as: 'home-owner',
      params: at(old.id),
      body: { overlap_seconds: 3600 },
    })
    assert.notEqual(rotated.id, old.id)
    assert.equal((await stage.fetch('/v1/models', { key: rotated.key })).status, 200)
    assert.equal((await stage.fetch('/v1/models', { key: old.key })).status, 200)
    const left = await stage.read(ONE, { as: 'home-owner', params: at(old.id) })
    assert.equal(left.replaced_by, rotated.id)
    const again = await stage.ask(ROTATE, { as: 'home-owner', params: at(old.id), body: {} })
    assert.equal(again.status, 400)
  })

  test('one is found by a part of its name, its id or what is shown of it', async () => {
    const { id, display } = await create({ name: 'Ada’s 100%_note' })
    await create({ name: 'Ada’s 100 notes' })
    for (const search of ['ada’s 100%_', id.slice(4, 16), display.slice(-4)]) {
      const query = { search, limit: '500' }
      const { data } = await stage.read(LIST, { as: 'home-member', params: at(), query })
      assert.deepEqual(
        data.map((key) => key.id),
        [id],
        search,
      )
    }
  })

  test('pages follow each other without a gap', async () => {
    const whole = await stage.read(LIST, { as: 'home-member', params: at() })
    const seen: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const query: Record<string, string> = cursor ? { limit: '2', cursor } : { limit: '2' }
      const page = await stage.read(LIST, { as: 'home-member', params: at(), query })
      seen.push(...page.data.map(({ id }) => id))
      cursor = page.next_cursor
    }
    assert.ok(seen.length > 4)
    assert.deepEqual(
      seen,
      whole.data.map(({ id }) => id),
    )
  })

  test('a key of another account is not found', async () => {
    const { id } = await create({})
    const [member] = await Promise.all([stage.house('third')])
    for (const keyId of [id, 'key_nothing', "'; drop table api_key; --", 'x'.repeat(150)]) {
      const params = { account_id: member.accountId, key_id: keyId }
      const { status, text } = await stage.ask(ONE, { as: 'third-owner', params })
      assert.equal(status, 404)
      assert.equal(JSON.parse(text).error, 'no such key')
      const change = await stage.ask(CHANGE, { as: 'third-owner', params, body: { name: 'x' } })
      assert.equal(change.status, 404)
    }
  })
})
