import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { KEYS, list, simulated } from './support.ts'

const sim = simulated()
const WEB = '/search/search_api/web_search'
const GLOBAL = '/search/search_api/global_search'

test('web search: count, summary and content as requested', async () => {
  const plain = await sim.post(WEB, KEYS.search, { Query: 'rivers', Count: 3 })
  assert.equal(plain.json.Result?.ResultCount, 3)
  const [first] = list(plain.json.Result?.WebResults)
  assert.equal(first?.Content, '')
  assert.ok(plain.headers['x-tt-logid'])
  const more = { Query: 'rivers', NeedSummary: true, Filter: { NeedContent: true } }
  const rich = await sim.post(WEB, KEYS.search, more)
  assert.equal(rich.json.Result?.ResultCount, 10)
  const [summed] = list(rich.json.Result?.WebResults)
  assert.ok(String(summed?.Summary).length >= 450)
  assert.notEqual(summed?.Content, '')
})

test('global search counts with DocCount', async () => {
  const { json } = await sim.post(GLOBAL, KEYS.search, { Query: 'rivers', DocCount: 2 })
  assert.equal(json.Result?.TotalDocCount, 2)
  assert.equal(json.Result?.ErrorCode, 0)
})

describe('validation', () => {
  const cases: [string, string, object, number][] = [
    ['no query', WEB, {}, 10400],
    ['empty query', WEB, { Query: '' }, 10400],
    ['101 characters', WEB, { Query: '长'.repeat(101) }, 10400],
    ['51 results', WEB, { Query: 'a', Count: 51 }, 10400],
    ['unknown field', WEB, { Query: 'a', Type: 'web' }, 10400],
    ['six blocked hosts', WEB, { Query: 'a', Filter: { BlockHosts: 'a|b|c|d|e|f' } }, 10400],
    ['bad time range', WEB, { Query: 'a', TimeRange: 'Yesterday' }, 10400],
    ['search type', WEB, { Query: 'a', SearchType: 'video' }, 10402],
    ['Count on global', GLOBAL, { Query: 'a', Count: 5 }, 10400],
    ['21 documents', GLOBAL, { Query: 'a', DocCount: 21 }, 10400],
    ['time filter on global', GLOBAL, { Query: 'a', TimeRange: 'OneDay' }, 10400],
  ]
  for (const [name, path, body, code] of cases) {
    test(name, async () => {
      const { json } = await sim.post(path, KEYS.search, body)
      assert.equal(json.ResponseMetadata?.Error?.CodeN, code)
      assert.equal(sim.running.book.entries().at(-1)?.billed, false)
    })
  }

  test('a wrong key', async () => {
    const { status, json } = await sim.post(WEB, { authorization: 'Bearer x' }, { Query: 'a' })
    assert.equal(status, 401)
    assert.equal(json.ResponseMetadata?.Error?.CodeN, 10401)
  })
})

test('errors stand in all three places', async () => {
  const http = await sim.post(WEB, KEYS.search, { Query: '[[fault:status=429]]' })
  assert.equal(http.status, 429)
  assert.equal(http.json.ResponseMetadata?.Error?.CodeN, 700429)
  const under200 = { Query: '[[fault:error-in=metadata-200;error-code=10406]]' }
  const metadata = await sim.post(WEB, KEYS.search, under200)
  assert.equal(metadata.status, 200)
  assert.equal(metadata.json.ResponseMetadata?.Error?.CodeN, 10406)
  const inResult = await sim.post(GLOBAL, KEYS.search, { Query: '[[fault:error-in=result]]' })
  assert.equal(inResult.status, 200)
  assert.equal(inResult.json.Result?.ErrorCode, 10500)
  assert.ok(
    sim.running.book
      .entries()
      .slice(-3)
      .every((entry) => !entry.billed),
  )
})

test('a successful call is billed once, with its marker', async () => {
  await sim.post(WEB, KEYS.search, { Query: 'rivers [[call:s-1]]' })
  const entries = sim.running.book.entries({ marker: 's-1' })
  assert.deepEqual(
    entries.map((entry) => [entry.units, entry.billed]),
    [[{ call: 1 }, true]],
  )
})
