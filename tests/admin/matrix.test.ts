/**
 * Role × route, generated from the contract and tried over real sockets: access by role, isolation
 * of accounts, and no secret in any response.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createSecretBox } from '../../server/base/lib/secrets/secrets.ts'
import { getOrCreateSecret } from '../../server/work/webhooks/secrets.ts'
import type { Tenant } from '../support/in-process.ts'
import { at, fill, type Ids, OF_ACCOUNTS, probe, ROUTES } from './matrix-stage.ts'
import { type AdminStage, startAdmin } from './support.ts'

let stage: AdminStage
let home: Tenant
let other: Tenant
let ids: Ids

before(async () => {
  stage = await startAdmin()
  home = await stage.house('home')
  other = await stage.house('other')
  stage.enter('operator', {
    user: {
      id: 'usr_op',
      email: 'op@example.com',
      name: 'op',
      language: 'en',
      operator: true,
    },
  })
  ids = await fill(stage, home)
})
after(() => stage.stop())

describe('access by role', () => {
  test('without a session, only public routes are accessible', async () => {
    for (const route of ROUTES.filter(({ role }) => role !== 'public')) {
      const { status } = await probe(stage, route, 'nobody', at(home, ids))
      assert.equal(status, 401, route.key)
    }
  })

  test('a user finds no account that they do not belong to', async () => {
    for (const route of OF_ACCOUNTS) {
      const foreign = await probe(stage, route, 'other-owner', at(home, ids))
      const none = await probe(stage, route, 'other-owner', { ...ids, account_id: 'acct_none' })
      assert.deepEqual(foreign, none, route.key)
      assert.equal(foreign.status, 404, route.key)
    }
  })

  for (const [as, allowed] of [
    ['home-viewer', ['member']],
    ['home-billing', ['member', 'billing']],
    ['home-member', ['member', 'developer']],
  ] as const) {
    test(`${as} may call the routes for ${allowed.join(' and ')}, and no others`, async () => {
      for (const route of OF_ACCOUNTS) {
        const { status, text } = await probe(stage, route, as, at(home))
        const isRefused = status === 401 || status === 403
        const isAllowed = (allowed as readonly string[]).includes(route.role)
        assert.equal(isRefused, !isAllowed, `${route.key}: ${status} ${text}`)
        assert.ok(status < 500, `${route.key}: ${status} ${text}`)
      }
    })
  }

  test('what each role may do', () => {
    const changes = OF_ACCOUNTS.filter(({ key, isRead }) => !key.startsWith('GET ') && !isRead)
    const of = (role: string) =>
      changes.filter((route) => route.role === role).map(({ key }) => key)
    assert.deepEqual(of('member'), [])
    assert.deepEqual(of('billing'), ['POST /accounts/:account_id/redeem'])
    const reads = OF_ACCOUNTS.filter(({ role, key }) => role !== 'member' && /^GET /.test(key))
    assert.deepEqual(
      reads.map(({ role, key }) => [role, key]),
      [['owner', 'GET /accounts/:account_id/invitations']],
    )
    const owned = of('owner').map((key) => key.replace('/accounts/:account_id', ''))
    assert.deepEqual(owned.sort(), [
      'DELETE /budgets/:budget_id',
      'DELETE /invitations/:invitation_id',
      'DELETE /members/:user_id',
      'PATCH ',
      'PATCH /budgets/:budget_id',
      'PATCH /members/:user_id',
      'POST /budgets',
      'POST /invitations',
      'POST /keys/:key_id/enable',
      'POST /webhooks/secret/reveal',
      'POST /webhooks/secret/rotate',
      'POST /webhooks/test',
    ])
    for (const { key, role } of ROUTES) {
      assert.equal(/\/operator\//.test(key), role === 'operator', key)
      const isPublic = /^\S+ \/(top-ups$|session\b|sign-in\/oidc\b)/.test(key)
      if (role === 'public') assert.ok(isPublic, `${key} is public`)
    }
  })

  test('an owner must prove their identity where the route requires it', async () => {
    for (const route of OF_ACCOUNTS.filter(({ stepUp }) => stepUp)) {
      const { status, text } = await probe(stage, route, 'home-owner', at(home))
      // An input that is not valid is refused before anybody is asked to confirm it.
      const expected = status === 400 ? /invalid_request_error/ : /step_up_required/
      assert.ok(status === 400 || status === 403, `${route.key}: ${status}`)
      assert.match(text, expected, route.key)
    }
  })

  test('only operators may call routes for operators', async () => {
    for (const route of ROUTES.filter(({ role }) => role === 'operator')) {
      for (const as of ['home-owner', 'home-member', 'other-owner']) {
        assert.equal(
          (await probe(stage, route, as, at(home, ids))).status,
          403,
          `${route.key} ${as}`,
        )
      }
      const isRead = route.key.startsWith('GET ') && !route.stepUp
      if (!isRead) continue
      const { status, text } = await probe(stage, route, 'operator', at(home, ids))
      assert.ok(status !== 401 && status !== 403 && status < 500, `${route.key}: ${status} ${text}`)
    }
  })
})

describe('rows of other accounts', () => {
  test('ids of another account are not found within the caller’s own', async () => {
    for (const route of OF_ACCOUNTS.filter(({ key }) => key.split(':').length > 2)) {
      if (route.stepUp || route.key.includes(':model_id')) continue
      const foreign = await probe(stage, route, 'other-owner', at(other, ids))
      const none = await probe(stage, route, 'other-owner', at(other))
      assert.deepEqual(foreign, none, route.key)
    }
  })

  test('no list shows anything of another account', async () => {
    const marks = [home.accountId, ...Object.values(ids)]
    for (const route of OF_ACCOUNTS.filter(({ key }) => key.startsWith('GET '))) {
      const { text } = await probe(stage, route, 'other-owner', at(other))
      for (const mark of marks) assert.ok(!text.includes(mark), `${route.key} shows ${mark}`)
    }
  })

  test('the owner sees them', async () => {
    const seen: string[] = []
    for (const route of OF_ACCOUNTS.filter(({ key }) => key.startsWith('GET '))) {
      seen.push((await probe(stage, route, 'home-owner', at(home, ids))).text)
    }
    for (const id of Object.values(ids))
      assert.ok(
        seen.some((text) => text.includes(id)),
        id,
      )
  })

  test('no response contains a key, a secret or their stored form', async () => {
    const box = createSecretBox(['a-secret-key-that-only-tests-would-ever-use'])
    const { current } = await getOrCreateSecret(stage.sql, box, home.accountId)
    const [row] = await stage.sql<{ hash: string }[]>`
      select encode(hash, 'hex') as hash from api_key where id = ${home.keyId}`
    const canaries = [home.key, current, row?.hash ?? '', 'sim-openai-key', 'sim-ark-key']
    for (const route of ROUTES.filter(({ key }) => key.startsWith('GET '))) {
      for (const as of ['home-owner', 'operator']) {
        const { text } = await probe(stage, route, as, at(home, ids))
        for (const canary of canaries) {
          assert.ok(canary === '' || !text.includes(canary), `${route.key} shows ${canary}`)
        }
      }
    }
  })
})
