/** The webhook pages: a secret that is kept, deliveries, and sending again. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Tenant } from '../support/in-process.ts'
import { until } from '../support/until.ts'
import { insertDropped, startReceiver } from '../webhooks/support.ts'
import { type AdminStage, startAdmin } from './support.ts'

const SECRET = 'GET /accounts/:account_id/webhooks/secret'
const REVEAL = 'POST /accounts/:account_id/webhooks/secret/reveal'
const ROTATE = 'POST /accounts/:account_id/webhooks/secret/rotate'
const LIST = 'GET /accounts/:account_id/webhooks/deliveries'
const ONE = 'GET /accounts/:account_id/webhooks/deliveries/:delivery_id'
const AGAIN = 'POST /accounts/:account_id/webhooks/deliveries/:delivery_id/redeliver'
const ALL = 'POST /accounts/:account_id/webhooks/deliveries/redeliver'
const TRY = 'POST /accounts/:account_id/webhooks/test'

describe('webhooks', () => {
  let stage: AdminStage
  let home: Tenant
  before(async () => {
    stage = await startAdmin({ ALLOW_PRIVATE_TARGETS: 'true' })
    home = await stage.house('home')
    stage.enter('fresh-owner', {
      memberships: [{ accountId: home.accountId, accountName: 'home', role: 'owner' }],
      steppedUpUntil: new Date(Date.now() + 60_000),
    })
  })
  after(() => stage.stop())

  const at = (id = '') => ({ account_id: home.accountId, delivery_id: id })

  test('the secret is masked until the session steps up', async () => {
    const masked = await stage.read(SECRET, { as: 'home-member', params: at() })
    assert.match(masked.secret, /^whsec_••••\w{4}$/)
    assert.equal((await stage.ask(REVEAL, { as: 'home-owner', params: at() })).status, 403)
    assert.equal((await stage.ask(REVEAL, { as: 'home-member', params: at() })).status, 403)
    const { secret } = await stage.read(REVEAL, { as: 'fresh-owner', params: at() })
    assert.match(secret, /^whsec_\w{43}$/)
    assert.ok(secret.endsWith(masked.secret.slice(-4)))
    assert.equal(stage.audited.at(-1)?.action, REVEAL)
    assert.ok(!JSON.stringify(stage.audited.map(({ details }) => details)).includes(secret))
    const rotated = await stage.read(ROTATE, { as: 'fresh-owner', params: at() })
    assert.notEqual(rotated.secret, secret)
    assert.ok(rotated.previous_valid_until)
  })

  test('a test send is listed with its last attempt, shown whole, and sent again', async (t) => {
    const { url } = await startReceiver(t)
    const sent = await stage.read(TRY, { as: 'home-owner', params: at(), body: { url } })
    await until('its end', async () => {
      const { status } = await stage.read(ONE, { as: 'home-member', params: at(sent.id) })
      return status === 'pending' ? undefined : status
    })
    const again = await stage.read(AGAIN, { as: 'home-member', params: at(sent.id) })
    assert.equal(again.redelivery_of, sent.id)
    const list = await stage.read(LIST, { as: 'home-member', params: at() })
    assert.deepEqual(
      list.data.map(({ id }) => id),
      [again.id, sent.id],
    )
    const one = await stage.read(ONE, { as: 'home-member', params: at(sent.id) })
    assert.equal(JSON.parse(one.body ?? '').kind, 'test')
    const next = await stage.read(LIST, {
      as: 'home-member',
      params: at(),
      query: { limit: '1' },
    })
    const rest = await stage.read(LIST, {
      as: 'home-member',
      params: at(),
      query: { cursor: next.next_cursor ?? '' },
    })
    assert.deepEqual(
      rest.data.map(({ id }) => id),
      [sent.id],
    )
  })

  test('dropped ones are sent again by members of the account, and by operators for all', async (t) => {
    const { url } = await startReceiver(t)
    const drop = (accountId: string) => insertDropped(stage.sql, accountId, `${url}/?token=x`)
    const { accountId: other } = await stage.house('third')
    const [mine, theirs] = [await drop(home.accountId), await drop(other)]
    const user = { id: 'usr_op', email: 'op@a.test', name: 'op', language: 'en', operator: true }
    stage.enter('operator', { user: { ...user, language: 'en' } })
    const shown = await stage.read('GET /operator/deliveries', {
      as: 'operator',
      query: { state: 'dropped', host: new URL(url).host, from: '2020-01-01T00:00:00Z' },
    })
    assert.deepEqual(shown.data.map(({ id }) => id).sort(), [mine, theirs].sort())
    const body = {
      from: new Date(Date.now() - 3_600_000).toISOString(),
      to: new Date(Date.now() + 3_600_000).toISOString(),
    }
    const own = await stage.read(ALL, { as: 'home-member', params: at(), body })
    assert.deepEqual(own, { redelivered: 1, remaining: 0 })
    const all = await stage.read('POST /operator/deliveries/redeliver', { as: 'operator', body })
    assert.deepEqual(all, { redelivered: 1, remaining: 0 })
    assert.equal(stage.audited.at(-1)?.details?.redelivered, 1)
    const list = await stage.read(LIST, {
      as: 'home-member',
      params: at(),
      query: { status: 'dropped', host: '127.0.0.1' },
    })
    assert.ok(list.data[0]?.redelivered_as?.startsWith('whd_'))
  })

  test('a URL that is not allowed is refused', async () => {
    const body = { url: 'ftp://example.com/x' }
    assert.equal((await stage.ask(TRY, { as: 'home-owner', params: at(), body })).status, 400)
  })

  test('deliveries of another account are not found', async () => {
    const list = await stage.read(LIST, { as: 'home-member', params: at() })
    const { accountId } = await stage.house('stranger')
    for (const id of [list.data[0]?.id ?? '', 'whd_none', '\0']) {
      const params = { account_id: accountId, delivery_id: id }
      for (const key of [ONE, AGAIN] as const) {
        const answer = await stage.ask(key, { as: 'stranger-owner', params })
        assert.equal(answer.status, 404)
      }
    }
  })
})
