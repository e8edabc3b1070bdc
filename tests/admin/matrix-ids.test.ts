/**
 * Foreign, unknown and malformed ids, in every parameter of every route, get the same response,
 * byte for byte, so that it does not reveal what exists.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Tenant } from '../support/in-process.ts'
import {
  at,
  fill,
  type Ids,
  OF_ACCOUNTS,
  type Probe,
  probe,
  ROUTES,
  type Route,
} from './matrix-stage.ts'
import { type AdminStage, startAdmin } from './support.ts'

const MALFORMED = ['x', '%', '\0', 'ü', ' ', "' or 1=1 --", 'x'.repeat(2_000)]
const namesOf = ({ key }: Route) => [...key.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
/** Models are public to every user, and `test` reveals no object. */
const OPEN = new Set(['model_id'])

let stage: AdminStage
let home: Tenant
let other: Tenant
let ids: Ids

before(async () => {
  stage = await startAdmin()
  home = await stage.house('home')
  other = await stage.house('other')
  const fresh = { steppedUpUntil: new Date(Date.now() + 3_600_000) }
  const memberships = [{ accountId: other.accountId, accountName: 'o', role: 'owner' as const }]
  stage.enter('other-fresh', { ...fresh, memberships })
  const user = { id: 'usr_op', email: 'op@example.com', name: 'op', language: 'en' as const }
  stage.enter('operator', { ...fresh, user: { ...user, operator: true } })
  ids = await fill(stage, home)
})
after(() => stage.stop())

/** Reads and removals are 404; a route with a body may refuse the empty one first, but alike. */
function expectAlike(route: Route, answers: readonly Probe[]): void {
  const [first] = answers
  for (const answer of answers) assert.deepEqual(answer, first, route.key)
  const isBodiless = /^(?:GET|DELETE) /.test(route.key)
  const expected = isBodiless ? [404] : [404, 400]
  assert.ok(expected.includes(first?.status ?? 0), `${route.key}: ${first?.status} ${first?.text}`)
}

describe('ids', () => {
  const named = OF_ACCOUNTS.filter((route) => namesOf(route).length > 1)

  test('there is an object of every kind to try', () => {
    assert.ok(named.length >= 15, String(named.length))
    for (const route of named) {
      for (const name of namesOf(route)) {
        const isKnown = name === 'account_id' || OPEN.has(name) || ids[name] !== undefined
        assert.ok(isKnown, `${route.key}: the matrix has no ${name}`)
      }
    }
  })

  test('within the caller’s account: foreign, unknown and malformed ids get one answer', async () => {
    for (const route of named) {
      const [, name = ''] = namesOf(route)
      const tried = [...MALFORMED, 'none', ...(OPEN.has(name) ? [] : [ids[name] ?? ''])]
      const answers: Probe[] = []
      for (const id of tried) {
        answers.push(await probe(stage, route, 'other-fresh', at(other, { [name]: id })))
      }
      expectAlike(route, answers)
    }
  })

  test('of accounts: foreign, unknown and malformed ids get one answer', async () => {
    for (const route of OF_ACCOUNTS) {
      const answers: Probe[] = []
      for (const id of [home.accountId, 'acct_none', ...MALFORMED]) {
        answers.push(await probe(stage, route, 'other-fresh', { ...ids, account_id: id }))
      }
      expectAlike(route, answers)
      assert.equal(answers[0]?.status, 404, route.key)
    }
  })

  test('of accounts, for operators: unknown and malformed ids are refused alike', async () => {
    for (const route of OF_ACCOUNTS.filter(({ key }) => /^(?:GET|DELETE) /.test(key))) {
      const answers: Probe[] = []
      for (const id of ['acct_none', ...MALFORMED]) {
        answers.push(await probe(stage, route, 'operator', { ...ids, account_id: id }))
      }
      for (const answer of answers) assert.equal(answer.status, answers[0]?.status, route.key)
      assert.ok((answers[0]?.status ?? 500) < 500, route.key)
    }
  })

  test('for operators: unknown and malformed ids are refused alike', async () => {
    const creates = (route: Route) => route.key.startsWith('PUT ')
    const ofOperators = ROUTES.filter(({ role }) => role === 'operator')
    for (const route of ofOperators.filter((one) => namesOf(one).length > 0 && !creates(one))) {
      const [name = ''] = namesOf(route)
      const statuses = new Set<number>()
      for (const id of ['none', ...MALFORMED]) {
        statuses.add((await probe(stage, route, 'operator', { [name]: id })).status)
      }
      assert.equal(statuses.size, 1, `${route.key}: ${[...statuses].join()}`)
      assert.ok([400, 404, 409].includes([...statuses][0] ?? 500), route.key)
    }
  })

  test('of sessions and passkeys: foreign, unknown and malformed ids get one answer', async () => {
    for (const route of ROUTES.filter((one) => one.role === 'user' && namesOf(one).length > 0)) {
      const [name = ''] = namesOf(route)
      const answers: Probe[] = []
      for (const id of ['ses_home-owner', 'none', ...MALFORMED]) {
        answers.push(await probe(stage, route, 'other-fresh', { [name]: id }))
      }
      expectAlike(route, answers)
    }
  })
})
