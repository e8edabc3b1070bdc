/** POST /v1/search, black box: both product lines, per successful call. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../support/in-process.ts'
import { testCommonStatuses } from './common-statuses.ts'

const PATH = '/v1/search'
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

test('200: web and global, each one call', async () => {
  const { key } = await gateway.tenant()
  for (const [body, list] of [
    [{ Type: 'web', Query: 'rivers', Count: 3 }, 'WebResults'],
    [{ Type: 'global', Query: 'rivers', Count: 3 }, 'Documents'],
    [{ model: 'vendor-global-search', Query: 'rivers', Count: 3 }, 'Documents'],
  ] as const) {
    const answer = await gateway.post(PATH, key, body)
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.json.Result[list].length, 3)
    assert.ok(!answer.text.includes('"Type":"web"') && !answer.text.includes('vendor-'))
    const record = await gateway.record(answer, key)
    assert.deepEqual(
      record.lines.map(({ unit, quantity }) => [unit, quantity]),
      [['call', 1]],
    )
  }
})

test('the count is 10 if absent, and at most 20 for global search', async () => {
  const { key } = await gateway.tenant()
  const count = async (body: object, list: string) =>
    (await gateway.post(PATH, key, body)).json.Result[list].length
  assert.equal(await count({ Type: 'web', Query: 'q' }, 'WebResults'), 10)
  assert.equal(await count({ Type: 'global', Query: 'q' }, 'Documents'), 10)
  assert.equal(await count({ Type: 'global', Query: 'q', Count: 50 }, 'Documents'), 20)
})

test('400: each rule names its field', async () => {
  const { key } = await gateway.tenant()
  const cases: [object, RegExp][] = [
    [{ Query: 'q' }, /^Type: required: 'web' or 'global'/],
    [{ Type: 'global', Query: 'q', NeedSummary: true }, /^NeedSummary: /],
    [{ Type: 'global', Query: 'q', Filter: { Sites: 'a.example' } }, /^Filter\.Sites: /],
    [{ Type: 'images', Query: 'q' }, /^Type: /],
    [{ Type: 'web' }, /^Query: required/],
    [{ Type: 'web', Query: '' }, /^Query: /],
    [{ Type: 'web', Query: 'q'.repeat(101) }, /^Query: /],
    [{ Type: 'web', Query: 'q', Count: 0 }, /^Count: /],
    [{ Type: 'web', Query: 'q', Count: 51 }, /^Count: /],
    [{ Type: 'web', Query: 'q', SearchType: 'image' }, /^SearchType: /],
    [{ Type: 'web', Query: 'q', searchType: 'image' }, /^searchType: .*'SearchType'/],
    [{ Type: 'web', model: 'vendor-global-search', Query: 'q' }, /^Type: /],
  ]
  for (const [body, message] of cases) {
    const answer = await gateway.post(PATH, key, body)
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.match(answer.json.error, message)
    assert.equal(answer.json.type, 'invalid_request_error')
  }
})

test('200: any model id of the product that Type names', async () => {
  const { key } = await gateway.tenant()
  await gateway.apply({
    models: [
      {
        id: 'our-web-search',
        type: 'search',
        prices: [{ unit: 'call', per: 1, amount: '0.01' }],
        routes: [{ channel: 'sim-search', upstream_model: 'web_search' }],
      },
    ],
  })
  const order = { Query: 'rivers', model: 'our-web-search' }
  for (const more of [{}, { Type: 'web' }]) {
    const answer = await gateway.post(PATH, key, { ...order, ...more })
    assert.equal(answer.status, 200, answer.text)
    assert.equal((await gateway.record(answer, key)).charged, '0.01')
  }
})

testCommonStatuses(() => gateway, {
  path: PATH,
  body: { Type: 'web', Query: 'hello' },
  model: 'vendor-web-search',
  envelope: 'flat',
  withWords: (words) => ({ Type: 'web', Query: words }),
  withModel: (model) => ({ path: PATH, body: { model, Query: 'hello' } }),
})
