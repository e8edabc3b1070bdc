/** Several keys in one channel, each with its own cooldown, and the channel's concurrency limit. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, beforeEach, test } from 'node:test'
import { Agent } from 'undici'
import { UPSTREAMS } from '../../server/wire/upstreams/index.ts'
import { probeOf } from '../../server/work/pipeline/send/probe-channel.ts'
import { startTestGateway, type TestGateway } from '../support/in-process.ts'
import { startServer } from '../support/servers/local-server.ts'
import { until } from '../support/until.ts'

const CHAT = '/v1/chat/completions'
let gateway: TestGateway
/** The key of each request that the vendor received. */
let seen: string[] = []
/** Keys that the vendor refuses, with the status. */
const refused = new Map<string, number>()
/** Answers that wait until the test sends them. */
const waiting: ServerResponse[] = []
let isSlow = false

const answer = (id: string) =>
  JSON.stringify({
    id,
    object: 'response',
    status: 'completed',
    created: 1,
    model: 'm',
    output: [],
    choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, input_tokens: 1, output_tokens: 1 },
  })

const vendor = await startServer((request, response) => {
  const key = (request.headers.authorization ?? '').replace('Bearer ', '')
  seen.push(key)
  request.resume()
  request.once('end', () => {
    const status = refused.get(key) ?? 200
    response.writeHead(status, { 'content-type': 'application/json' })
    if (status !== 200) response.end(JSON.stringify({ error: { message: 'no', code: 'no' } }))
    else if (isSlow) waiting.push(response)
    else response.end(answer(`resp_${key}_${seen.length}`))
  })
})

before(async () => {
  gateway = await startTestGateway()
  await define('many', ['k-1', 'k-2', 'k-3'])
})
after(async () => {
  await gateway.stop()
  await vendor.stop()
})
beforeEach(() => {
  seen = []
  refused.clear()
})

/** Defines a channel with a model of the same name. */
async function define(id: string, keys: readonly string[] | string, more: object = {}) {
  const settings = { base_url: `${vendor.url}/v1`, api_keys: keys, ...more }
  const routes = [{ channel: id }]
  await gateway.apply(
    {
      channels: [{ id, upstream: 'openai-compatible', settings }],
      models: [{ id, type: 'chat', free: true, routes }],
    },
    id,
  )
}

const ask = (model: string, more: object = {}) => ({
  model,
  messages: [{ role: 'user', content: 'hi' }],
  ...more,
})

test('calls spread over the keys, and the record names the channel with the key', async () => {
  const { key } = await gateway.tenant()
  const named = new Set<string>()
  for (let index = 0; index < 40; index += 1) {
    const sent = await gateway.post(CHAT, key, ask('many'))
    assert.equal(sent.status, 200, sent.text)
    const { attempts } = await gateway.record(sent, key)
    const [last] = attempts as readonly { channel: string; key?: number }[]
    assert.equal(last?.channel, 'many')
    named.add(`k-${last?.key ?? 1}`)
    assert.equal(seen.at(-1), `k-${last?.key ?? 1}`)
  }
  assert.deepEqual(named, new Set(['k-1', 'k-2', 'k-3']))
})

test('a conversation stays at one key', async () => {
  const { key } = await gateway.tenant()
  for (let turn = 0; turn < 8; turn += 1) {
    await gateway.post(CHAT, key, ask('many', { prompt_cache_key: 'one' }))
  }
  assert.equal(new Set(seen).size, 1)
})

test('a key that is out of money or busy cools down alone', async () => {
  await define('cooling', ['c-1', 'c-2'])
  const { key } = await gateway.tenant()
  refused.set('c-1', 429)
  const call = async () => (await gateway.post(CHAT, key, ask('cooling'))).status
  await until('a call at the busy key', async () => {
    assert.equal(await call(), 200)
    return seen.includes('c-1') || undefined
  })
  for (let index = 0; index < 12; index += 1) assert.equal(await call(), 200)
  const tried = seen.filter((one) => one === 'c-1').length
  assert.ok(tried <= 3, `the busy key was tried ${tried} times`)
})

test('a stored answer is continued with the key that has it', async () => {
  await define('stored', ['s-1', 's-2', 's-3'])
  const { key } = await gateway.tenant()
  for (let index = 0; index < 6; index += 1) {
    const first = await gateway.post('/v1/responses', key, { model: 'stored', input: 'hi' })
    assert.equal(first.status, 200, first.text)
    const holder = seen.at(-1)
    const next = { model: 'stored', input: 'on', previous_response_id: first.json.id }
    assert.equal((await gateway.post('/v1/responses', key, next)).status, 200)
    assert.equal(seen.at(-1), holder)
  }
})

test('keys may come as one text with commas, and are stored as secrets', async () => {
  await define('listed', 'l-1, l-2')
  const { key } = await gateway.tenant()
  for (let index = 0; index < 20; index += 1) await gateway.post(CHAT, key, ask('listed'))
  assert.deepEqual(new Set(seen), new Set(['l-1', 'l-2']))
  const rows = await gateway.sql<{ settings: string }[]>`
    select settings::text as settings from channel_version where channel_id = 'listed'`
  assert.doesNotMatch(rows.map(({ settings }) => settings).join(), /l-1/)
})

test('calls beyond the concurrency limit of a channel are a 429, and a slot is freed', async () => {
  await define('narrow', ['n-1', 'n-2'], { max_concurrent_calls: 1 })
  const { key } = await gateway.tenant()
  isSlow = true
  const first = gateway.post(CHAT, key, ask('narrow'))
  await until('the first call at the vendor', () => Promise.resolve(waiting.length === 1))
  const second = await gateway.post(CHAT, key, ask('narrow'))
  assert.equal(second.status, 429, second.text)
  assert.equal(second.headers.get('retry-after'), '1')
  isSlow = false
  waiting.pop()?.end(answer('resp_slow'))
  assert.equal((await first).status, 200)
  assert.equal((await gateway.post(CHAT, key, ask('narrow'))).status, 200)
})

test('a test of the channel tries every key', async () => {
  await define('tested', ['t-1', 't-2'])
  const [row] = await gateway.sql<{ settings: object }[]>`
    select settings from channel_version where channel_id = 'tested'`
  assert.ok(row)
  const settings = { ...row.settings, api_keys: ['t-1', 't-2'], headers: {}, auth: 'bearer' }
  const test = probeOf(UPSTREAMS.get('openai-compatible'), settings, new Agent())
  await test?.()
  assert.deepEqual(seen, ['t-1', 't-2'])
  refused.set('t-2', 401)
  await assert.rejects(async () => await test?.(), /refuses the key/)
})
