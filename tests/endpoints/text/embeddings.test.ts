/** POST /v1/embeddings, black box. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { testCommonStatuses } from '../common-statuses.ts'

const PATH = '/v1/embeddings'
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

const ask = (input: unknown) => ({ model: 'sim-embedding', input })

test('200: vectors, charged by input tokens', async () => {
  const { key } = await gateway.tenant()
  for (const input of ['rivers', ['rivers', 'lakes'], [1, 2, 3]]) {
    const answer = await gateway.post(PATH, key, ask(input))
    assert.equal(answer.status, 200, answer.text)
    const record = await gateway.record(answer, key)
    assert.deepEqual(
      record.lines.map(({ unit, quantity }) => [unit, quantity]),
      [['input_token', answer.json.usage.prompt_tokens]],
    )
  }
})

test('400: an input of no known shape', async () => {
  const { key } = await gateway.tenant()
  for (const input of [undefined, '', [], 7, {}, [{}], ['a', 1]]) {
    const answer = await gateway.post(PATH, key, ask(input))
    assert.equal(answer.status, 400, JSON.stringify(input))
    assert.match(answer.json.error.param, /^input/)
  }
})

testCommonStatuses(() => gateway, {
  path: PATH,
  body: ask('hello'),
  model: 'sim-embedding',
  envelope: 'nested',
  withWords: (words) => ask(words),
  withModel: (model) => ({ path: PATH, body: { ...ask('hello'), model } }),
})
