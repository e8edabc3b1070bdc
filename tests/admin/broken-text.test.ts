/** Text and times that the database cannot keep are refused at every route, with their field. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { ADMIN_CONTRACT, type AdminKey } from '../../server/api/admin/contract.ts'
import type { Contract } from '../../server/api/admin/route.ts'
import { ENDPOINTS } from '../../server/api/endpoints/index.ts'
import { findUnstorable } from '../../server/base/lib/text/well-formed.ts'
import type { Tenant } from '../support/in-process.ts'
import { type AdminStage, startAdmin } from './support.ts'

const HALF = /contains half of a surrogate pair/
const ZERO = /contains U\+0000/
const DEEP = /is nested too deeply/
const NESTED: unknown = JSON.parse(`${'['.repeat(3_000)}${']'.repeat(3_000)}`)
const CONTRACT: Contract = ADMIN_CONTRACT
const WRITES = Object.entries(CONTRACT)
  .filter(([, { body, isSigned }]) => body && !isSigned)
  .map(([key]) => key as AdminKey)

let stage: AdminStage
let home: Tenant
before(async () => {
  stage = await startAdmin()
  home = await stage.house('home')
  stage.enter('all', {
    user: {
      id: 'usr_all',
      email: 'all@example.com',
      name: 'all',
      language: 'en',
      operator: true,
    },
    memberships: [{ accountId: home.accountId, accountName: 'home', role: 'owner' }],
    steppedUpUntil: new Date(Date.now() + 3_600_000),
  })
})
after(() => stage.stop())

/** Any name will do for the other parts of a path: the body is read first. */
function paramsOf(key: string): Record<string, string> {
  const names = [...key.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const params = Object.fromEntries(names.map((name) => [name, 'x']))
  return { ...params, account_id: home.accountId }
}

const TIMES = ['+275760-09-13T00:00:00Z', '0000-01-01', '2026-02-30', '1 May', '5']
const TIME_PROBLEM = /(?:from|to|at): must be a time (?:between the years 1970 and 9999|such as)/

test('what is no time of our era is a 400 with the field, at every route that takes one', async () => {
  const reads = Object.entries(CONTRACT).flatMap(([key, { query }]) => {
    const names = ['from', 'to', 'at'].filter((name) => query?.shape[name])
    return names.map((name) => [key as AdminKey, name] as const)
  })
  assert.ok(reads.length > 20, `${reads.length} times`)
  const whole = { from: '2026-11-01', to: '2026-11-02' }
  for (const [key, name] of reads) {
    for (const time of TIMES) {
      const query = { ...whole, [name]: time }
      const answer = await stage.ask(key, { as: 'all', params: paramsOf(key), query })
      assert.equal(answer.status, 400, `${key}: ${answer.text}`)
      assert.match(answer.text, TIME_PROBLEM, key)
    }
  }
})

test('the same at the public routes', async () => {
  const lists = ENDPOINTS.filter(
    ({ documentation: { query } }) => query && 'from' in shapeOf(query),
  )
  assert.ok(lists.length > 3, `${lists.length} routes`)
  for (const { paths } of lists) {
    for (const time of TIMES) {
      for (const name of ['from', 'to']) {
        const search = new URLSearchParams({ [name]: time })
        const answer = await stage.get(`${paths[0]}?${search}`, home.key)
        assert.equal(answer.status, 400, `${paths[0]}: ${answer.text}`)
        assert.match(answer.text, TIME_PROBLEM)
      }
    }
  }
})

const shapeOf = (query: object): object =>
  'shape' in query && typeof query.shape === 'object' ? (query.shape ?? {}) : {}

test('half an emoji and U+0000 are a 400 with the field, at every route with a body', async () => {
  assert.ok(WRITES.length > 30, `${WRITES.length} routes`)
  const cases: readonly (readonly [body: unknown, expected: RegExp, param: string])[] = [
    [{ name: 'a\ud83d' }, HALF, 'name'],
    [{ models: [{ id: 'm', details: { text: '\ude00b' } }] }, HALF, 'models[0].details.text'],
    [{ settings: { 'a\ud800b': 1 } }, HALF, 'settings'],
    [{ prices: [1, 'a\0'] }, ZERO, 'prices[1]'],
    ['\ud83d', HALF, 'body'],
    [{ settings: NESTED }, DEEP, 'body'],
    [NESTED, DEEP, 'body'],
  ]
  for (const key of WRITES) {
    for (const [body, expected, param] of cases) {
      const answer = await stage.ask(key, { as: 'all', params: paramsOf(key), body })
      assert.equal(answer.status, 400, `${key}: ${answer.text}`)
      assert.match(answer.text, expected, key)
      assert.ok(answer.text.includes(`${param}: `), `${key}: ${answer.text}`)
    }
  }
})

test('a model with half an emoji is refused with the field', async () => {
  const key = 'PUT /operator/models/:model_id'
  const body = { type: 'chat', details: { display_name: 'a\ud83d' } }
  const refused = await stage.ask(key, { as: 'all', params: { model_id: 'm' }, body })
  assert.equal(refused.status, 400)
  assert.match(refused.text, /details\.display_name: contains half/)
})

test('a query with U+0000 is refused with its name', async () => {
  const params = { account_id: home.accountId }
  const query = { cursor: 'a\0b' }
  const answer = await stage.ask('GET /accounts/:account_id/keys', { as: 'all', params, query })
  assert.equal(answer.status, 400)
  assert.match(answer.text, /cursor: contains U\+0000/)
})

test('more values than any form has are refused before they are checked', async () => {
  for (const [key, most] of [
    ['PATCH /accounts/:account_id', 20_000],
    ['PUT /operator/models/:model_id', 50_000],
  ] as const) {
    const params = paramsOf(key)
    for (const [count, message] of [
      [most - 2, /name|type/],
      [most + 1, /"the body has too many values"/],
    ] as const) {
      const body = { name: Array(count).fill(0) }
      const answer = await stage.ask(key, { as: 'all', params, body })
      assert.equal(answer.status, 400)
      assert.match(answer.text, message)
    }
  }
})

test('deep nesting is read without recursion', async () => {
  const depth = 200_000
  const text = `{"name":${'['.repeat(depth)}"\\ud83d"${']'.repeat(depth)}}`
  assert.equal(findUnstorable(JSON.parse(text))?.path.length, depth + 1)
})

test('exactly the documents that cannot be stored are refused', () => {
  const piece = fc.constantFrom('a', '😀', '\ud83d', '\ude00', '\0', '\\u0000', '')
  const text = fc.array(piece, { maxLength: 4 }).map((parts) => parts.join(''))
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      text,
      fc.integer(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(text, tie('value'), { maxKeys: 3 }),
    ),
  }))
  fc.assert(
    fc.property(value, (document) => {
      const texts: string[] = []
      JSON.stringify(document, (name, member) => {
        texts.push(name, ...(typeof member === 'string' ? [member] : []))
        return member
      })
      const isBad = texts.some((one) => one.includes('\0') || !one.isWellFormed())
      assert.equal(findUnstorable(document) !== undefined, isBad)
    }),
    { numRuns: 2_000 },
  )
})
