/** POST /v1/chat/completions, black box: answers, statuses and charges. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import OpenAI from 'openai'
import { formatAmount, parseAmount } from '../../../server/base/lib/money.ts'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { testCommonStatuses } from '../common-statuses.ts'

const PATH = '/v1/chat/completions'
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

function ask(words: string, more: object = {}) {
  return { model: 'sim-chat', messages: [{ role: 'user', content: words }], ...more }
}

test('200: an answer, charged by the usage that the vendor stated', async () => {
  const { key, accountId } = await gateway.tenant({ balance: '1' })
  const answer = await gateway.post(PATH, key, ask('[[say:one two three]]'))
  assert.equal(answer.status, 200)
  assert.equal(answer.json.choices[0].message.content, 'one two three')
  const { prompt_tokens: input, completion_tokens: output } = answer.json.usage
  const record = await gateway.record(answer, key)
  assert.equal(record.status, 'succeeded')
  assert.equal(record.basis, 'usage')
  assert.deepEqual(
    record.lines.map(({ unit, quantity }) => [unit, quantity]),
    [
      ['input_token', input],
      ['output_token', output],
    ],
  )
  const charged = BigInt(input) * 150n + BigInt(output) * 600n
  assert.equal((await gateway.balance(accountId)).available, 1_000_000_000n - charged)
  assert.deepEqual(
    record.ledger.map((entry) => entry.step),
    ['hold', 'charge', 'return'],
  )
})

test('200: a stream; usage is collected, but only sent to callers that request it', async () => {
  const { key } = await gateway.tenant()
  const answer = await gateway.post(PATH, key, ask('[[say:a stream]]', { stream: true }))
  assert.equal(answer.status, 200)
  assert.match(answer.headers.get('content-type') ?? '', /^text\/event-stream/)
  assert.match(answer.text, /data: \[DONE\]\n\n$/)
  assert.doesNotMatch(answer.text, /"prompt_tokens"/)
  const record = await gateway.record(answer, key)
  assert.equal(record.basis, 'usage')
  assert.ok(record.lines.some((line) => line.unit === 'output_token' && line.quantity > 0))
})

test('200: a caller that requests usage gets exactly one usage chunk', async () => {
  const { key } = await gateway.tenant()
  const options = { stream: true, stream_options: { include_usage: true } }
  const answer = await gateway.post(PATH, key, ask('[[say:hi]]', options))
  assert.equal(answer.text.match(/"prompt_tokens"/g)?.length, 1)
})

test('the vendor gets none of the caller’s credentials and headers', async () => {
  const { key } = await gateway.tenant()
  const answer = await gateway.post(PATH, key, ask('[[call:seen]] hello'), {
    cookie: 'secret=1',
    'x-forwarded-for': '10.0.0.1',
  })
  assert.equal(answer.status, 200)
  const calls = await fetch(`${gateway.simulators.url}/sim/calls`).then((found) => found.text())
  assert.ok(calls.length > 100)
  for (const secret of [key, 'secret=1', '10.0.0.1']) assert.ok(!calls.includes(secret))
})

test('the openai package streams and reads errors, unmodified', async () => {
  const { key } = await gateway.tenant()
  const client = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  const stream = client.chat.completions.stream({
    model: 'sim-chat',
    messages: [{ role: 'user', content: '[[say:hello there]]' }],
  })
  const final = await stream.finalChatCompletion()
  assert.equal(final.choices[0]?.message.content, 'hello there')
  const poor = await gateway.tenant({ balance: '0' })
  const broke = new OpenAI({ apiKey: poor.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  await assert.rejects(
    broke.chat.completions.create({
      model: 'sim-chat',
      messages: [{ role: 'user', content: 'hi' }],
    }),
    (error: unknown) =>
      error instanceof OpenAI.APIError && error.status === 402 && /top up/.test(error.message),
  )
})

test('400: the field at fault is named', async () => {
  const { key, accountId } = await gateway.tenant()
  const cases: [object, string][] = [
    [{ messages: [{ role: 'user', content: 'x' }] }, 'model'],
    [{ model: 'sim-chat' }, 'messages'],
    [ask('x', { max_tokens: -1 }), 'max_tokens'],
    [ask('x', { max_tokens: 1.5 }), 'max_tokens'],
    [ask('x', { stream: 'yes' }), 'stream'],
    [ask('x', { n: 0 }), 'n'],
    [{ model: 'sim-chat', messages: [{ content: 'x' }] }, 'messages[0].role'],
  ]
  for (const [body, field] of cases) {
    const answer = await gateway.post(PATH, key, body)
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.equal(answer.json.error.param, field)
  }
  assert.equal((await gateway.balance(accountId)).held, 0n)
})

test('400: the vendor’s message about a rejected request reaches the caller, free', async () => {
  const { key, accountId } = await gateway.tenant()
  const before = await gateway.balance(accountId)
  const answer = await gateway.post(PATH, key, ask('[[fault:status=400]]'))
  assert.equal(answer.status, 400)
  assert.deepEqual(await gateway.balance(accountId), before)
})

test('a stream without usage is charged by the delivered output', async () => {
  const { key } = await gateway.tenant()
  const words = '[[fault:usage=absent]] [[tokens:200]]'
  const answer = await gateway.post(PATH, key, ask(words, { stream: true }))
  const record = await gateway.record(answer, key)
  assert.equal(record.basis, 'estimate', answer.text.slice(0, 300))
  const output = record.lines.find((line) => line.unit === 'output_token')?.quantity ?? 0
  assert.ok(output >= 180 && output <= 220, `estimated ${output} of 200`)
})

test('negative usage counts as not stated and is estimated, within the hold', async () => {
  const { key } = await gateway.tenant()
  const answer = await gateway.post(PATH, key, ask('[[fault:usage=negative]]'))
  const record = await gateway.record(answer, key)
  assert.deepEqual([record.basis, record.review], ['estimate', false], JSON.stringify(record))
  assert.ok((parseAmount(record.charged) ?? 0n) <= (parseAmount(record.held) ?? 0n))
  const total = record.lines.reduce((sum, { amount }) => sum + (parseAmount(amount) ?? 0n), 0n)
  assert.equal(formatAmount(total), record.charged, 'its lines add up')
})

testCommonStatuses(() => gateway, {
  path: PATH,
  body: ask('hello'),
  model: 'sim-chat',
  envelope: 'nested',
  withWords: (words) => ask(words),
  withModel: (model) => ({ path: PATH, body: { ...ask('hello'), model } }),
})

for (const model of ['sim-chat', 'sim-claude']) {
  test(`${model}: functions, the older form of tools, are answered in their own form`, async () => {
    const { key } = await gateway.tenant()
    const functions = [{ name: 'weather', parameters: { type: 'object', properties: {} } }]
    const messages = [{ role: 'user', content: '[[tool:weather {"city":"Oslo"}]]' }]
    const request = { model, functions, function_call: 'auto' }
    const answer = await gateway.post(PATH, key, { ...request, messages })
    assert.equal(answer.status, 200, answer.text)
    const [choice] = answer.json.choices
    assert.equal(choice.finish_reason, 'function_call')
    assert.equal(choice.message.tool_calls, undefined)
    assert.equal(choice.message.function_call.name, 'weather')
    assert.deepEqual(JSON.parse(choice.message.function_call.arguments), { city: 'Oslo' })
    const result = { role: 'function', name: 'weather', content: 'rain' }
    const turns = [...messages, choice.message, result]
    const next = await gateway.post(PATH, key, { ...request, messages: turns })
    assert.equal(next.status, 200, next.text)
    assert.match(next.json.choices[0].message.content, /rain/)
  })
}
