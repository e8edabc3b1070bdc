/** Rules over claims: what matches, what is refused, and that nothing strange matches. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  judgeClaims,
  type RoleRule,
  readClaim,
  readRules,
} from '../../../server/api/sign-in/claim-rules.ts'

function rules(value: unknown): readonly RoleRule[] {
  const read = readRules(value)
  if ('problem' in read) throw new Error(read.problem)
  return read
}
const OPERATOR = { when: { groups: 'ai-admins' }, operator: true }
const judge = (value: unknown, claims: object) => judgeClaims(rules(value), { ...claims })

test('the first rule that matches decides', () => {
  const all = [
    OPERATOR,
    { when: { hd: 'acme.com' }, account: 'acct_1', role: 'member' },
    { when: { groups: 'proj-*' }, account_by: 'groups', role: 'viewer' },
  ]
  const nothing = { operator: false, accounts: [], role: 'viewer' }
  assert.deepEqual(judge(all, {}), nothing)
  assert.deepEqual(judge(all, { groups: ['x', 'ai-admins'], hd: 'acme.com' }), {
    operator: true,
    accounts: [],
    role: 'developer',
  })
  assert.deepEqual(judge(all, { hd: 'acme.com', groups: ['proj-a'] }), {
    operator: false,
    accounts: ['acct_1'],
    role: 'developer',
  })
  assert.deepEqual(judge(all, { groups: ['proj-a', 'other', 'proj-b', 'proj-a'] }).accounts, [
    'proj-a',
    'proj-b',
  ])
  assert.deepEqual(judge(all, { hd: 'evil.acme.com' }), nothing)
})

test('people in more than a thousand groups keep what the last of them gives', () => {
  const groups = [...Array.from({ length: 1_500 }, (_, index) => `group-${index}`), 'ai-admins']
  assert.equal(judge([OPERATOR], { groups }).operator, true)
})

test('all claims of a rule must match, by name or by path', () => {
  const all = [
    { when: { 'realm_access.roles': ['admin', 'root'], tid: 'x', mfa: true }, operator: true },
    { when: { 'https://acme.com/roles': 'admin' }, operator: true },
  ]
  const claims = { realm_access: { roles: ['admin'] }, tid: 'x', mfa: true }
  assert.equal(judge(all, claims).operator, true)
  assert.equal(judge(all, { ...claims, tid: 'y' }).operator, false)
  assert.equal(judge(all, { ...claims, mfa: 'true' }).operator, false)
  assert.equal(judge(all, { 'https://acme.com/roles': ['admin'] }).operator, true)
})

test('a rule that would match everybody, or by what people choose, is refused', () => {
  for (const [value, problem] of [
    [{}, /list/],
    [[1], /object/],
    [[{ when: {}, operator: true }], /everybody/],
    [[{ operator: true }], /everybody/],
    [[{ when: { groups: '*' }, operator: true }], /every value/],
    [[{ when: { groups: ['x', '**'] }, operator: true }], /every value/],
    [[{ when: { preferred_username: 'admin' }, operator: true }], /choose/],
    [[{ when: { name: 'Ada' }, operator: true }], /choose/],
    [[{ when: { groups: {} }, operator: true }], /is not a string/],
    [[{ when: { groups: '' }, operator: true }], /is not a string/],
    [[{ when: { groups: 'a' } }], /gives nothing/],
    [[{ when: { groups: 'a' }, operator: 'yes' }], /boolean/],
    [[{ when: { groups: 'a' }, account: 'a', role: 'root' }], /role/],
    [[{ when: { groups: 'a' }, account_by: 'teams' }], /account_by/],
    [[{ when: { groups: 'a' }, operator: true, admin: true }], /unknown member/],
  ] as const) {
    const read = readRules(value)
    assert.ok('problem' in read, JSON.stringify(value))
    assert.match(read.problem, problem)
  }
})

test('no claim of any form matches that does not hold the text itself', () => {
  const all = rules([OPERATOR, { when: { 'a.b': 'x*y' }, operator: true }])
  const strange = fc.dictionary(
    fc.constantFrom('groups', 'a', '__proto__', 'constructor', 'a.b'),
    fc.anything({ withNullPrototype: true }),
  )
  fc.assert(
    fc.property(strange, (claims) => {
      const { operator } = judgeClaims(all, claims)
      const groups = Object.hasOwn(claims, 'groups') ? [claims.groups].flat() : []
      const inner = [readClaim(claims, 'a.b')].flat()
      const isText = (value: unknown) => typeof value === 'string' && /^x.*y$/su.test(value)
      assert.equal(operator, groups.includes('ai-admins') || inner.some(isText))
    }),
  )
  assert.equal(readClaim({}, 'constructor.name'), undefined)
  assert.equal(readClaim({ a: [] }, 'a.length'), undefined)
})

test('patterns are matched from end to end, in linear time', () => {
  const match = (pattern: string, value: string) =>
    judge([{ when: { g: pattern }, operator: true }], { g: value }).operator
  assert.deepEqual(
    ['a*', 'a*b', 'a*b*c', '*b', 'ab*ab'].map((pattern) => match(pattern, 'ab')),
    [true, true, false, true, false],
  )
  assert.equal(match('a*c*e', 'abcde'), true)
  assert.equal(match('acme', 'acme.evil'), false)
  assert.equal(match(`${'a*'.repeat(200)}b`, 'a'.repeat(100_000)), false)
})
