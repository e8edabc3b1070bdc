/** POST /v1/completions, black box, over both kinds of upstreams. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import OpenAI from 'openai'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { testCommonStatuses } from '../common-statuses.ts'

const PATH = '/v1/completions'
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

const MODELS = ['sim-chat', 'sim-claude', 'sim-reasoner']
const ask = (prompt: unknown, more: object = {}) => ({ model: 'sim-chat', prompt, ...more })

for (const model of MODELS) {
  test(`200: text, whole and streamed, charged as the vendor counted: ${model}`, async () => {
    const { key } = await gateway.tenant()
    const client = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
    const request = { model, prompt: '[[say:some words]]', max_tokens: 50 }
    const { data: whole, response } = await client.completions.create(request).withResponse()
    assert.equal(whole.choices[0]?.text, 'some words')
    assert.deepEqual([whole.object, whole.model], ['text_completion', model])
    assert.equal(whole.choices[0]?.finish_reason, 'stop')
    const { lines } = await gateway.record(response, key)
    const output = lines.find(({ unit }) => unit === 'output_token')?.quantity
    assert.equal(output, whole.usage?.completion_tokens)

    const options = { stream: true, stream_options: { include_usage: true } } as const
    const stream = await client.completions.create({ ...request, ...options })
    const chunks = []
    for await (const chunk of stream) chunks.push(chunk)
    assert.equal(chunks.map(({ choices }) => choices[0]?.text ?? '').join(''), 'some words')
    assert.ok(chunks.every(({ object }) => object === 'text_completion'))
    assert.equal(chunks.at(-1)?.usage?.completion_tokens, whole.usage?.completion_tokens)
    const reasons = chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? [])
    assert.deepEqual(reasons, ['stop'])
  })
}

test('the output limit is the dialect’s own where none is set, and the hold follows it', async () => {
  const { key } = await gateway.tenant()
  const short = await gateway.post(PATH, key, ask('[[tokens:100]]'))
  assert.equal(short.json.choices[0].finish_reason, 'length')
  assert.equal(short.json.usage.completion_tokens, 16)
  const long = await gateway.post(PATH, key, ask('[[tokens:100]]', { max_tokens: 100 }))
  assert.equal(long.json.usage.completion_tokens, 100)
  const held = async (answer: { headers: Headers }) =>
    Number((await gateway.record(answer, key)).held)
  assert.ok((await held(short)) < (await held(long)))
})

test('several choices are answered and charged', async () => {
  const { key } = await gateway.tenant()
  const answer = await gateway.post(PATH, key, ask(['[[tokens:10]]'], { n: 2 }))
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.json.choices.length, 2)
  const { lines } = await gateway.record(answer, key)
  assert.equal(lines.find(({ unit }) => unit === 'output_token')?.quantity, 20)
})

test('400 with the field for what a chat cannot have; off is no request', async () => {
  const { key } = await gateway.tenant()
  const refused = [
    [ask('hi', { suffix: 'end' }), 'suffix'],
    [ask('hi', { echo: true }), 'echo'],
    [ask('hi', { tools: [] }), 'tools'],
    [ask('hi', { best_of: 3 }), 'best_of'],
    [ask('hi', { logprobs: 0 }), 'logprobs'],
    [ask([1, 2, 3]), 'prompt'],
    [ask([[1, 2], [3]]), 'prompt'],
    [ask(['one', 'two']), 'prompt'],
    [ask(''), 'prompt'],
    [ask(undefined), 'prompt'],
    [ask(7), 'prompt'],
    [ask('hi', { max_tokens: 0 }), 'max_tokens'],
  ] as const
  for (const [body, param] of refused) {
    const answer = await gateway.post(PATH, key, body)
    assert.equal(answer.status, 400, `${JSON.stringify(body)}: ${answer.text}`)
    assert.equal(answer.json.error.param, param, answer.text)
  }
  const off = { suffix: null, echo: false, best_of: 1, logprobs: null }
  assert.equal((await gateway.post(PATH, key, ask('hi', off))).status, 200)
})

test('a stream that breaks off ends with an error, never as complete', async () => {
  const { key } = await gateway.tenant()
  const words = '[[tokens:40]][[fault:reset-mid=5]]'
  const answer = await gateway.post(PATH, key, ask(words, { stream: true, max_tokens: 50 }))
  assert.match(answer.text, /"error":/)
  assert.doesNotMatch(answer.text, /\[DONE\]/)
})

testCommonStatuses(() => gateway, {
  path: PATH,
  body: ask('hello'),
  model: 'sim-chat',
  envelope: 'nested',
  withWords: (words) => ask(words),
  withModel: (model) => ({ path: PATH, body: { ...ask('hello'), model } }),
})
