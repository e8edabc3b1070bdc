/** The address of a vendor: its query goes with every request, and it shows no credentials. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createSecretBox } from '../../server/base/lib/secrets/secrets.ts'
import { describeChannel } from '../../server/money/catalog/describe.ts'
import { SECRET_KEY, startTestGateway, type TestGateway } from '../support/in-process.ts'
import { startServer } from '../support/servers/local-server.ts'

const SECRET = 'a-secret-of-the-query'
let gateway: TestGateway
let seen: string | undefined

const vendor = await startServer((request, response) => {
  seen = request.url
  request.resume()
  request.once('end', () => response.writeHead(400, { 'content-type': 'text/plain' }).end('no'))
})

/** Applies a channel, and a model of the same name. */
async function define(id: string, upstream: string, address: string, more = {}): Promise<void> {
  const settings = { base_url: `${vendor.url}${address}`, ...more }
  await gateway.apply({
    source: id,
    channels: [{ id, upstream, settings }],
    models: [{ id, type: 'chat', free: true, routes: [{ channel: id }] }],
  })
}

before(async () => {
  gateway = await startTestGateway()
})
after(async () => {
  await gateway.stop()
  await vendor.stop()
})

for (const { upstream, address, more = {}, url } of [
  { upstream: 'openai-compatible', address: '/v1/', url: '/v1/chat/completions' },
  {
    upstream: 'openai-compatible',
    address: '/v1/?api-version=2026-01-01',
    more: { query: { sig: `${SECRET}&=` } },
    url: `/v1/chat/completions?api-version=2026-01-01&sig=${SECRET}%26%3D`,
  },
  { upstream: 'anthropic', address: '?region=eu', url: '/v1/messages?region=eu' },
]) {
  test(`${upstream} at ${address} is called at ${url}`, async () => {
    await define('queried', upstream, address, more)
    const { key } = await gateway.tenant()
    const messages = [{ role: 'user', content: 'hi' }]
    await gateway.post('/v1/chat/completions', key, { model: 'queried', messages })
    assert.equal(seen, url)
    const shown = await describeChannel(gateway.sql, createSecretBox([SECRET_KEY]), 'queried')
    assert.doesNotMatch(JSON.stringify(shown), new RegExp(SECRET))
  })
}

for (const address of [`/v1?api-key=${SECRET}`, `@127.0.0.1:1/v1`]) {
  test(`credentials in ${address} are refused without a word of them`, async () => {
    await assert.rejects(define('refused', 'openai-compatible', address), (error: Error) => {
      assert.match(error.message, /base_url: must not hold credentials/)
      assert.doesNotMatch(error.message, new RegExp(SECRET))
      return true
    })
  })
}

for (const [upstream, address, more] of [
  ['gemini', '/v1beta', { api_key: 'k' }],
  ['gemini', '/proxy/v1/', { api_key: 'k' }],
  ['bedrock', '/v1', { api_key: 'k', region: 'us-east-1' }],
  ['rerank', '/v2', { shape: 'cohere', api_key: 'k' }],
  ['kling', '/v1', { api_key: 'k' }],
  ['dashscope', '/compatible-mode/v1', { api_key: 'k' }],
  ['media-tasks', '/api/v1', { preset: 'openrouter', api_key: 'k' }],
] as const) {
  test(`${upstream} at ${address} is refused: it adds the version path itself`, async () => {
    const version = /\/v\d\w*/.exec(address)?.[0]
    const message = new RegExp(`base_url: must not end in ${version}/?: the gateway adds`)
    await assert.rejects(define('versioned', upstream, address, more), message)
  })
}

test('credentials that were stored before are not shown', async () => {
  await define('older', 'openai-compatible', '/v1')
  const url = `https://vendor.example/v1?token=${SECRET}`
  await gateway.sql`
    update channel_version set settings = jsonb_build_object('base_url', ${url}::text)
    where channel_id = 'older'`
  const { settings } = await describeChannel(gateway.sql, createSecretBox([SECRET_KEY]), 'older')
  assert.equal(settings.base_url, 'https://••••@vendor.example/v1?••••')
})
