/** Translated requests to vendors that demand reasoning beside calls, and failed calls of tools. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { after, before, beforeEach, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { type LocalServer, startServer } from '../../support/servers/local-server.ts'

interface Message {
  readonly role: string
  readonly content: unknown
  readonly reasoning_content?: string
  readonly tool_calls?: unknown
}

let gateway: TestGateway
let vendor: LocalServer
let isDemanding = true
let wantsSignature = false
const UNTHOUGHT = 'thinking is enabled but reasoning_content is missing in assistant message'
const UNSIGNED = 'Function call is missing a thought_signature in functionCall parts.'
const seen: { messages: readonly Message[] }[] = []

const COMPLETION = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}

before(async () => {
  vendor = await startServer(async (request, response) => {
    const chunks = await Readable.from(request).toArray()
    const body = JSON.parse(Buffer.concat(chunks).toString())
    seen.push(body)
    const bare = (one: Message) => one.tool_calls && !one.reasoning_content
    const signed = 'skip_thought_signature_validator'
    const isUnsigned = wantsSignature && !JSON.stringify(body).includes(signed)
    const isRefused = isUnsigned || (isDemanding && body.messages.some(bare))
    const refusal = {
      error: { message: isUnsigned ? UNSIGNED : UNTHOUGHT, type: 'invalid_request_error' },
    }
    const answer = isUnsigned ? [refusal] : isRefused ? refusal : COMPLETION
    response.writeHead(isRefused ? 400 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer))
  })
  gateway = await startTestGateway()
  const settings = {
    base_url: vendor.url,
    api_key: 'k',
    responses: 'translate',
  }
  await gateway.apply({
    channels: [{ id: 'demanding', upstream: 'openai-compatible', settings }],
    models: [
      {
        id: 'chat',
        type: 'chat',
        prices: [{ unit: 'output_token', per: 1, amount: '0.001' }],
        routes: [{ channel: 'demanding', upstream_model: 'chat' }],
      },
    ],
  })
})
after(async () => {
  await gateway.stop()
  await vendor.stop()
})
beforeEach(() => {
  seen.length = 0
  isDemanding = true
  wantsSignature = false
})

const messages = (thinking: readonly object[], result: object = {}) => ({
  model: 'chat',
  max_tokens: 100,
  messages: [
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: [...thinking, { type: 'tool_use', id: 't1', name: 'look', input: {} }],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't1', content: 'no such file', ...result }],
    },
  ],
})
const THINKING = [{ type: 'thinking', thinking: 'I must look.', signature: '' }]
const VERSION = { 'vendor-version': '2023-06-01' }

for (const [name, thinking, expected] of [
  ['that the caller returns', THINKING, 'I must look.'],
  ['that no caller has', [], ' '],
] as const) {
  test(`messages: reasoning ${name} goes back when the vendor demands it`, async () => {
    const { key } = await gateway.tenant()
    const answer = await gateway.post('/v1/messages', key, messages(thinking), VERSION)
    assert.equal(answer.status, 200, answer.text)
    const sent = seen.map((body) => body.messages.find((one) => one.tool_calls)?.reasoning_content)
    assert.deepEqual(sent, [undefined, expected])
    assert.equal((await gateway.record(answer, key)).attempts.length, 1)
  })
}

test('responses: reasoning items go back when the vendor demands them', async () => {
  const { key } = await gateway.tenant()
  const input = [
    { role: 'user', content: 'go' },
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'I must look.' }] },
    { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: 'ok' },
  ]
  const answer = await gateway.post('/v1/responses', key, { model: 'chat', input })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(seen.at(-1)?.messages[1]?.reasoning_content, 'I must look.')
})

test('a call is signed when the vendor demands it, in an error of its own form', async () => {
  isDemanding = false
  wantsSignature = true
  const { key } = await gateway.tenant()
  const answer = await gateway.post('/v1/messages', key, messages(THINKING), VERSION)
  assert.equal(answer.status, 200, answer.text)
  assert.equal(seen.length, 2)
  assert.equal((await gateway.record(answer, key)).attempts.length, 1)
  const input = [
    { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: 'ok' },
  ]
  const response = await gateway.post('/v1/responses', key, { model: 'chat', input })
  assert.equal(response.status, 200, response.text)
})

test('a vendor that demands nothing gets no reasoning, and one request', async () => {
  isDemanding = false
  const { key } = await gateway.tenant()
  const answer = await gateway.post('/v1/messages', key, messages(THINKING), VERSION)
  assert.equal(answer.status, 200)
  assert.equal(seen.length, 1)
  assert.doesNotMatch(JSON.stringify(seen), /I must look/)
})

for (const [result, expected] of [
  [{ is_error: true }, 'Error: no such file'],
  [{ is_error: true, content: 'Error: no such file' }, 'Error: no such file'],
  [{ is_error: true, content: [] }, 'Error: the tool call failed.'],
  [{ is_error: false }, 'no such file'],
] as const) {
  test(`the result of a call keeps its failure: ${JSON.stringify(result)}`, async () => {
    isDemanding = false
    const { key } = await gateway.tenant()
    await gateway.post('/v1/messages', key, messages([], result), VERSION)
    const tool = seen[0]?.messages.find(({ role }) => role === 'tool')
    assert.equal(tool?.content, expected)
  })
}
