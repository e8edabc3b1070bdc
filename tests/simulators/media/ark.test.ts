import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataLines, KEYS, simulated } from '../support.ts'

const sim = simulated()
const BASE = '/ark/api/v3'
const chat = (content: string, more: object = {}) => {
  return { model: 'sim-ark-chat', messages: [{ role: 'user', content }], ...more }
}
const CHAT = `${BASE}/chat/completions`

test('unknown fields are ignored, thinking is understood', async () => {
  const more = { shoe_size: 43, thinking: { type: 'enabled' }, repetition_penalty: 1.1 }
  const { status, json } = await sim.post(CHAT, KEYS.ark, chat('hi [[reason:hm]]', more))
  assert.equal(status, 200)
  assert.equal(json.choices?.[0]?.message?.reasoning_content, 'hm')
  const bad = await sim.post(CHAT, KEYS.ark, chat('hi', { thinking: { type: 'maybe' } }))
  assert.equal(bad.status, 400)
})

test('chunk_include_usage sends running usage in every chunk', async () => {
  const options = {
    stream: true,
    stream_options: { include_usage: true, chunk_include_usage: true },
  }
  const { text } = await sim.post(CHAT, KEYS.ark, chat('[[tokens:4]][[chunks:4]]', options))
  const counts = dataLines(text).map((chunk) => Number(chunk.usage?.completion_tokens))
  assert.deepEqual(counts, [0, 1, 2, 3, 4, 4, 4])
})

test('errors have the one ARK shape, with a request id', async () => {
  const wrong = await sim.post(CHAT, { authorization: 'Bearer x' }, chat('hi'))
  assert.equal(wrong.status, 401)
  assert.equal(wrong.json.error?.code, 'AuthenticationError')
  const missing = await sim.post(CHAT, KEYS.ark, { model: 'sim-ark-chat' })
  assert.equal(missing.json.error?.code, 'MissingParameter.messages')
  assert.deepEqual(Object.keys(missing.json.error ?? {}), ['code', 'message', 'param', 'type'])
  assert.ok(String(missing.json.error?.message).includes(missing.headers['x-request-id'] ?? '?'))
  const unknown = await sim.post(CHAT, KEYS.ark, { ...chat('x'), model: 'ep-none' })
  assert.equal(unknown.status, 404)
  const limited = await sim.post(CHAT, KEYS.ark, chat('[[fault:status=429]]'))
  assert.equal(limited.json.error?.code, 'ModelAccountRpmRateLimitExceeded')
})

test('responses end with [DONE]; built-in tools need their header', async () => {
  const body = { model: 'sim-ark-chat', input: 'hi', stream: true }
  const { text } = await sim.post(`${BASE}/responses`, KEYS.ark, body)
  assert.ok(text.endsWith('data: [DONE]\n\n'))
  assert.match(text, /"caching":\{"type":"disabled"\}/)
  const tools = { ...body, tools: [{ type: 'web_search' }] }
  assert.equal((await sim.post(`${BASE}/responses`, KEYS.ark, tools)).status, 400)
  const opted = { ...KEYS.ark, 'ark-beta-web-search': 'true' }
  assert.equal((await sim.post(`${BASE}/responses`, opted, tools)).status, 200)
})

test('embeddings', async () => {
  const body = { model: 'sim-ark-embedding', input: ['a', 'b'], encoding_format: 'float' }
  const { json } = await sim.post(`${BASE}/embeddings`, KEYS.ark, body)
  assert.equal(json.usage?.prompt_tokens, 2)
})
