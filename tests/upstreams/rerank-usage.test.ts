/** What an answer of a reranker states about its bill, and what states nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRankingUsage, toReading } from '../../server/wire/upstreams/rerank/read-answer.ts'
import { SHAPES } from '../../server/wire/upstreams/rerank/shapes.ts'

test('a header of digits is a count; any other states nothing, not zero', () => {
  const read = (header?: string) => {
    const headers = header === undefined ? {} : { 'x-compute-tokens': header }
    return readRankingUsage([], headers, SHAPES.tei)
  }
  assert.deepEqual(read('17'), { input_token: 17 })
  assert.deepEqual(read('0'), { input_token: 0 })
  for (const header of [undefined, '', ' ', '-1', '1e3', '0x10', '5, 6', '1.5', 'NaN']) {
    assert.deepEqual(read(header), {}, String(header))
  }
  assert.deepEqual(read('9'.repeat(17)), {})
})

test('a count in the body is a whole number from zero on', () => {
  const read = (search_units: unknown) =>
    readRankingUsage({ meta: { billed_units: { search_units } } }, {}, SHAPES.cohere)
  assert.deepEqual(read(2), { search_unit: 2 })
  for (const stated of [undefined, null, '2', '', -1, 0.5, 2 ** 53, [], {}]) {
    assert.deepEqual(read(stated), {})
  }
})

test('tokens in meta are those of SiliconFlow and LiteLLM', () => {
  const read = (document: object, shape: keyof typeof SHAPES = 'jina') =>
    readRankingUsage(document, {}, SHAPES[shape])
  const meta = (billed_units: object, tokens?: object) => ({ meta: { billed_units, tokens } })
  const both = meta({ input_tokens: 54, output_tokens: 0, search_units: 0 }, { input_tokens: 54 })
  assert.deepEqual(read(both), { input_token: 54 })
  assert.deepEqual(read(both, 'cohere'), { search_unit: 0, input_token: 54 })
  assert.deepEqual(read(meta({ total_tokens: 8 })), { input_token: 8 })
  assert.deepEqual(read(meta({}, { input_tokens: 7 })), { input_token: 7 })
  assert.deepEqual(read({ ...both, usage: { total_tokens: 9 } }), { input_token: 9 })
  assert.deepEqual(read({ ...meta({ search_units: 1 }), usage: { total_tokens: 0 } }), {
    input_token: 0,
  })
  assert.deepEqual(read(meta({ search_units: 1 })), {})
})

test('a ranking was delivered: zero states nothing of it, and a cost is read', () => {
  const answer = { results: [{ index: 0, score: 1 }], usage: { input_token: 0 } }
  const { outputBytes, statedCost } = toReading({ usage: { cost: 0.0001 } }, answer)
  assert.ok(outputBytes > 0, 'or zero would be believed')
  assert.deepEqual(statedCost, { nanos: 100_000n, currency: 'USD' })
  assert.equal(toReading({ usage: { total_tokens: 9 } }, undefined).usage, undefined)
})
