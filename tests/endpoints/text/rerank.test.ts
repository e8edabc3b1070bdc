/** POST /v1/rerank and /v2/rerank over rerankers of every shape, black box. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { CohereClientV2 } from 'cohere-ai'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { testCommonStatuses } from '../common-statuses.ts'

const PATH = '/v1/rerank'
const SHAPES = ['cohere', 'jina', 'voyage', 'dashscope', 'tei']
const DOCUMENTS = ['a quiet stream', 'the long river Nile', { text: 'long roads' }]
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
  const { url } = gateway.simulators
  const channel = (id: string, shape: string, api_key = 'sim-rerank-key') => ({
    id,
    upstream: 'rerank',
    settings: { shape, base_url: `${url}/rerank/${shape}`, api_key },
  })
  const token = { unit: 'input_token', per: 1_000_000, amount: '50' }
  const unit = { unit: 'search_unit', per: 1_000, amount: '2' }
  const call = { unit: 'call', per: 1, amount: '0.01' }
  const model = (id: string, prices: object[], ...channels: string[]) => ({
    id,
    type: 'rerank',
    prices,
    routes: channels.map((one, priority) => ({ channel: one, upstream_model: 'm', priority })),
  })
  await gateway.apply({
    channels: [
      ...SHAPES.map((shape) => channel(shape, shape)),
      channel('wrong', 'jina', 'another key'),
    ],
    models: [
      ...SHAPES.map((shape) => model(shape, [shape === 'cohere' ? unit : token], shape)),
      model('by-call', [call], 'jina'),
      model('wrong-then-jina', [token], 'wrong', 'jina'),
      model('wrong-alone', [token], 'wrong'),
    ],
  })
})
after(() => gateway.stop())

const ask = (model: string, more: object = {}) => ({
  model,
  query: 'long river',
  documents: DOCUMENTS,
  ...more,
})

for (const shape of SHAPES) {
  test(`200 over ${shape}: sorted by relevance, and the charge is the bill`, async () => {
    const { key } = await gateway.tenant()
    for (const path of [PATH, '/v2/rerank']) {
      const answer = await gateway.post(path, key, ask(shape, { top_n: 2, return_documents: true }))
      assert.equal(answer.status, 200, answer.text)
      const { model, results, meta, usage } = answer.json
      assert.equal(model, shape)
      assert.deepEqual(
        results.map(({ index }: { index: number }) => index),
        [1, 2],
      )
      assert.deepEqual(results[1].document, { text: 'long roads' })
      const [entry] = gateway.simulators.book.entries().slice(-1)
      const { lines, basis, review } = await gateway.record(answer, key)
      const units = Object.fromEntries(lines.map(({ unit, quantity }) => [unit, quantity]))
      assert.deepEqual([units, basis, review], [entry?.units, 'usage', false])
      if (shape === 'cohere') assert.equal(meta.billed_units.search_units, 1)
      else assert.equal(usage.total_tokens, entry?.units.input_token)
    }
  })
}

test('a unit for each 100 documents, and for each piece of a long one', async () => {
  const { key } = await gateway.tenant()
  const documents = [...Array.from({ length: 99 }, (_, at) => `d${at}`), 'long '.repeat(800)]
  const answer = await gateway.post(PATH, key, ask('cohere', { documents }))
  const { lines, charged, held } = await gateway.record(answer, key)
  assert.deepEqual([lines[0]?.quantity, charged, held], [2, '0.004', '0.004'])
})

test('the client of Cohere reads answers over every shape', async () => {
  const { key } = await gateway.tenant()
  const client = new CohereClientV2({ token: key, environment: gateway.url })
  const documents = DOCUMENTS.map((one) => (typeof one === 'string' ? one : one.text))
  for (const model of SHAPES) {
    const { results } = await client.rerank({ model, query: 'long river', documents, topN: 1 })
    assert.deepEqual(
      results.map(({ index, relevanceScore }) => [index, relevanceScore]),
      [[1, 1]],
    )
  }
})

test('what a reranker does not get is named', async () => {
  const { key } = await gateway.tenant()
  const more = { rank_fields: ['title'], max_tokens_per_doc: 100, priority: null }
  for (const [shape, ignored] of [
    ['cohere', 'rank_fields'],
    ['tei', 'rank_fields, max_tokens_per_doc'],
  ] as const) {
    const answer = await gateway.post(PATH, key, ask(shape, more))
    assert.deepEqual([answer.status, answer.headers.get('x-tributary-ignored')], [200, ignored])
  }
})

test('sold by call; tokens are then information', async () => {
  const { key } = await gateway.tenant()
  const record = await gateway.record(await gateway.post(PATH, key, ask('by-call')), key)
  assert.deepEqual([record.charged, record.review], ['0.01', false])
})

for (const fault of ['usage=absent', 'usage=negative', 'usage=string', 'usage=huge']) {
  test(`${fault}: estimated or cut to the ceiling, never beyond it`, async () => {
    const { key } = await gateway.tenant()
    for (const shape of ['cohere', 'jina']) {
      const body = ask(shape, { query: `[[fault:${fault}]] river` })
      const answer = await gateway.post(PATH, key, body)
      assert.equal(answer.status, 200, answer.text)
      const { charged, basis, review } = await gateway.record(answer, key)
      assert.ok(Number(charged) > 0 && Number(charged) < 1, charged)
      assert.equal(basis === 'estimate' || review, true)
    }
  })
}

test('a result that names no document is the upstream’s failure, and free', async () => {
  const { key } = await gateway.tenant()
  const answer = await gateway.post(PATH, key, ask('cohere', { query: '[[fault:wrong-index]]' }))
  assert.equal(answer.status, 502)
  assert.equal((await gateway.record(answer, key)).charged, '0')
})

for (const [fault, status, outcome] of [
  ['status=400', 400, 'rejected'],
  ['status=402', 502, 'channel_fault'],
  ['status=400;error-code=Arrearage', 502, 'channel_fault'],
  ['status=413', 413, 'rejected'],
  ['status=429', 429, 'busy'],
  ['status=424', 502, 'failed'],
] as const) {
  test(`${fault} is ${outcome}`, async () => {
    const { key } = await gateway.tenant()
    const model = fault.includes('Arrearage') ? 'dashscope' : 'tei'
    const answer = await gateway.post(PATH, key, ask(model, { query: `[[fault:${fault}]]` }))
    assert.equal(answer.status, status, answer.text)
    const { charged, attempts } = await gateway.record(answer, key)
    assert.deepEqual([charged, attempts[0]?.outcome], ['0', outcome])
  })
}

test('a bad key is the channel’s fault: the next route serves', async () => {
  const { key } = await gateway.tenant()
  const answer = await gateway.post(PATH, key, ask('wrong-then-jina'))
  assert.equal(answer.status, 200, answer.text)
  assert.equal((await gateway.post(PATH, key, ask('wrong-alone'))).status, 502)
})

for (const [name, more, param] of [
  ['no query', { query: undefined }, 'query'],
  ['no documents', { documents: [] }, 'documents'],
  ['a document that is no text', { documents: [{ image: 'x' }] }, 'documents[0].text'],
  ['a count of zero', { top_n: 0 }, 'top_n'],
] as const) {
  test(`400: ${name}`, async () => {
    const { key } = await gateway.tenant()
    const answer = await gateway.post(PATH, key, ask('jina', more))
    assert.equal(answer.status, 400, answer.text)
    assert.equal(answer.json.error.param, param)
  })
}

testCommonStatuses(() => gateway, {
  path: PATH,
  body: ask('jina'),
  model: 'jina',
  envelope: 'nested',
  withWords: (words) => ask('jina', { query: words }),
  withModel: (model) => ({ path: PATH, body: ask(model) }),
})
