// The example catalog: the gateway's own reader accepts it, and its addresses and keys are those
// that the vendors accept.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseCatalogFile } from '../../server/money/catalog/apply/file.ts'
import { simulated } from './support.ts'

const sim = simulated()
const text = readFileSync(new URL('../../catalog/simulators.json', import.meta.url), 'utf8')
const read = () => parseCatalogFile('simulators.json', text, { SIMULATORS_URL: sim.url }).content

/** The cheapest call that proves a channel's address and key. */
type Probe = [path: string, headers: Record<string, string>, body: unknown]

const PROBES: Record<string, (key: string) => Probe> = {
  'openai-compatible': (key) => ['/models', { authorization: `Bearer ${key}` }, undefined],
  anthropic: (key) => [
    '/v1/models',
    { 'x-api-key': key, 'anthropic-version': '2023-06-01' },
    undefined,
  ],
  gemini: (key) => ['/v1beta/models', { 'x-goog-api-key': key }, undefined],
  'doubao-speech': synthesis,
  // A WebSocket behind the same keys: interpretation.test.ts opens it.
  'doubao-ast': synthesis,
  ark: (key) => ['/contents/generations/tasks', { authorization: `Bearer ${key}` }, undefined],
  'doubao-minutes': (key) => recordings('lark', key, 'volc.lark.minutes'),
  'doubao-recognition': (key) => recordings('bigmodel', key, 'volc.seedasr.auc'),
  mediakit: (key) => [
    '/api/v1/tools/erase-video-subtitle',
    { authorization: `Bearer ${key}` },
    { video_url: 'https://a.example/v.mp4' },
  ],
  minimax: (key) => [
    '/v2/video_generation',
    { authorization: `Bearer ${key}` },
    { model: 'MiniMax-H3', content: [{ type: 'text', text: 'a' }] },
  ],
  dashscope: (key) => [
    '/api/v1/services/aigc/video-generation/video-synthesis',
    { authorization: `Bearer ${key}`, 'x-dashscope-async': 'enable' },
    { model: 'wan3.0-video', input: { prompt: 'a' } },
  ],
  kling: (key) =>
    key === 'undefined'
      ? ['/v1/videos/text2video', { authorization: `Bearer ${signedToken()}` }, undefined]
      : ['/tasks?task_ids=0', { authorization: `Bearer ${key}` }, undefined],
  'media-tasks': (key) => ['/v1/predictions', { authorization: `Bearer ${key}` }, undefined],
  rerank: (key) => [
    '/v1/rerank',
    { authorization: `Bearer ${key}` },
    { model: 'm', query: 'a', documents: ['a'] },
  ],
  'volc-search': (key) => [
    '/search_api/web_search',
    { authorization: `Bearer ${key}` },
    { Query: 'a' },
  ],
}

/** The token of the older pair of keys. */
function signedToken(): string {
  const now = Math.floor(Date.now() / 1000)
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const payload = { iss: 'sim-kling-access', exp: now + 1800, nbf: now - 5 }
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(payload)}`
  return `${signed}.${createHmac('sha256', 'sim-kling-secret').update(signed).digest('base64url')}`
}

function synthesis(key: string): Probe {
  const headers = { 'x-api-key': key, 'x-api-resource-id': 'seed-tts-2.0' }
  return ['/api/v3/tts/unidirectional', headers, {}]
}

/** These refuse under HTTP 200, in their headers; a wrong key would be an HTTP 401. */
function recordings(product: string, key: string, resource: string): Probe {
  const headers = { 'x-api-key': key, 'x-api-resource-id': resource, 'x-api-request-id': 'probe' }
  return [`/api/v3/auc/${product}/query`, headers, {}]
}

test('every channel of the catalog answers', async () => {
  const { channels } = read()
  assert.ok(channels.length >= 5)
  for (const { id, upstream, settings } of channels) {
    const probe = PROBES[upstream]?.(String(settings.api_key))
    assert.ok(probe, upstream)
    const [path, headers, body] = probe
    const method = body === undefined ? 'GET' : 'POST'
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(`${settings.base_url}${path}`, { method, headers, ...sent })
    assert.equal(response.status, 200, id)
    await response.body?.cancel()
  }
})

test('every model has a price and a route to a channel of the file', () => {
  const { channels, models } = read()
  const known = new Set(channels.map((channel) => channel.id))
  for (const model of models) {
    assert.ok(model.free || model.prices.length > 0, model.id)
    for (const route of model.routes) assert.ok(known.has(route.channel), model.id)
  }
})
