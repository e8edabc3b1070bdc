/**
 * Access token × route, generated from the contract and tried over real sockets: for tokens of
 * every role and scope, with and without what is sensitive.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Tenant } from '../support/in-process.ts'
import { at, fill, type Ids, OF_ACCOUNTS, probe, ROUTES, type Route } from './matrix-stage.ts'
import { type AdminStage, startAdmin } from './support.ts'

const HOLDERS = ['operator', 'owner', 'developer', 'stranger'] as const
const SCOPES = ['read', 'write'] as const
const TRIED = HOLDERS.flatMap((holder) =>
  SCOPES.flatMap((scope) => [false, true].map((isSensitive) => ({ holder, scope, isSensitive }))),
)
type Tried = (typeof TRIED)[number]

let stage: AdminStage
let home: Tenant
let other: Tenant
let ids: Ids
const tokens = new Map<Tried, string>()
const tokenOf = (tried: Tried | undefined) => (tried && tokens.get(tried)) ?? 'tra-none'
const find = (holder: Tried['holder'], scope: Tried['scope'], isSensitive: boolean) =>
  tokenOf(
    TRIED.find(
      (one) => one.holder === holder && one.scope === scope && one.isSensitive === isSensitive,
    ),
  )

before(async () => {
  stage = await startAdmin()
  home = await stage.house('home')
  other = await stage.house('other')
  ids = await fill(stage, home)
  for (const tried of TRIED) {
    const { holder, scope, isSensitive } = tried
    const accountId = holder === 'stranger' ? other.accountId : home.accountId
    const role = holder === 'developer' ? holder : 'owner'
    const of = holder === 'operator' ? holder : ({ accountId, role } as const)
    tokens.set(tried, await stage.token({ of, scope, isSensitive }))
  }
})
after(() => stage.stop())

/** What the guide says, in the words of the contract. */
function expectedOf(route: Route, { holder, scope, isSensitive }: Tried): 'pass' | 403 | 404 {
  const isChange = !route.key.startsWith('GET ') && !route.isRead
  if (route.signInOnly) return 403
  if (isChange && scope === 'read') return 403
  if (route.stepUp && !isSensitive) return 403
  if (['public', 'user'].includes(route.role) || holder === 'operator') return 'pass'
  if (route.role === 'operator') return 403
  if (holder === 'stranger') return 404
  if (holder === 'owner') return 'pass'
  return route.role === 'owner' || route.role === 'billing' ? 403 : 'pass'
}

describe('permissions of a token', () => {
  for (const tried of TRIED) {
    const { holder, scope, isSensitive } = tried
    test(`${holder}: ${scope}${isSensitive ? ', sensitive' : ''}`, async () => {
      // A payment is proved by its signature, whoever sends it.
      for (const route of ROUTES.filter((one) => !one.isSigned)) {
        const { status, text } = await probe(stage, route, tokenOf(tried), at(home))
        const expected = expectedOf(route, tried)
        const told = `${route.key}: ${status} ${text.slice(0, 200)}`
        if (expected === 'pass') assert.ok(![401, 403].includes(status) && status < 500, told)
        else assert.equal(status, expected, told)
      }
    })
  }

  test('every route that is not for people alone is open to some token', () => {
    const open = ROUTES.filter((route) => !route.signInOnly && !route.isSigned)
    assert.ok(open.length >= 75, String(open.length))
    for (const route of open) {
      assert.ok(
        TRIED.some((tried) => expectedOf(route, tried) === 'pass'),
        route.key,
      )
    }
  })

  test('sign-ins, factors, passwords, tokens and changes of people are for people alone', () => {
    const ofPeople = /\/(?:session|profile|members|invitations|users|tokens|sign-in-providers)\b/
    const isListOfPeople = /^GET .*\/(?:members|invitations|users)$/
    for (const { key, signInOnly = false } of ROUTES) {
      assert.equal(signInOnly, ofPeople.test(key) && !isListOfPeople.test(key), key)
    }
  })
})

describe('the reference', () => {
  test('names the credentials of each route: a cookie, and a token where one may', async () => {
    const response = await stage.fetch('/openapi.json', {})
    const { paths } = (await response.json()) as {
      paths: Record<string, Record<string, { security: object[] }>>
    }
    for (const { key, role, signInOnly } of ROUTES) {
      const [method = '', path = ''] = key.split(' ')
      const template = `/admin/v1${path.replace(/:(\w+)/g, '{$1}')}`
      const both = signInOnly ? [{ session: [] }] : [{ session: [] }, { accessToken: [] }]
      const told = paths[template]?.[method.toLowerCase()]?.security
      assert.deepEqual(told, role === 'public' ? [] : both, key)
    }
  })
})

describe('rows that a token can read', () => {
  test('a token of another user learns nothing of an account', async () => {
    const stranger = find('stranger', 'write', true)
    for (const route of OF_ACCOUNTS.filter(({ signInOnly }) => !signInOnly)) {
      const foreign = await probe(stage, route, stranger, at(home, ids))
      const none = await probe(stage, route, stranger, { ...ids, account_id: 'acct_none' })
      assert.deepEqual(foreign, none, route.key)
      assert.equal(foreign.status, 404, route.key)
    }
  })

  test('no response contains a token or its stored form', async () => {
    const hashes = await stage.sql<{ hash: string }[]>`
      select encode(token_hash, 'hex') as hash from access_token`
    const canaries = [...tokens.values(), ...hashes.map(({ hash }) => hash)]
    assert.ok(canaries.length >= 32)
    stage.enter('operator', {
      user: {
        id: 'usr_op',
        email: 'op@example.com',
        name: 'op',
        language: 'en',
        operator: true,
      },
    })
    for (const route of ROUTES.filter(({ key }) => key.startsWith('GET '))) {
      for (const as of ['home-owner', 'operator', find('operator', 'read', true)]) {
        const { text } = await probe(stage, route, as, at(home, ids))
        for (const canary of canaries) assert.ok(!text.includes(canary), route.key)
      }
    }
  })

  test('rows of the audit log name it, refusals too', async () => {
    stage.audited.length = 0
    const [route] = ROUTES.filter(({ key }) => key === 'POST /operator/accounts')
    assert.ok(route)
    await probe(stage, route, find('operator', 'write', false), {})
    // A draft that is not valid is no attempt; a change is recorded.
    await probe(stage, route, find('operator', 'write', true), {})
    const authorization = `Bearer ${find('operator', 'write', true)}`
    const named = await stage.fetch('/admin/v1/operator/accounts', {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: '{"name":"By a token"}',
    })
    assert.equal(named.status, 200)
    const rows = stage.audited.map(({ tokenId, details }) => [
      tokenId?.slice(0, 4),
      details.outcome,
    ])
    assert.deepEqual(rows, [
      ['tok_', 'forbidden'],
      ['tok_', 'done'],
    ])
  })
})
