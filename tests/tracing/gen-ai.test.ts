/** Traces and metrics by the conventions for generative AI, and the trace that a vendor gets. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { startTrace } from '../../server/base/http/trace-context.ts'
import { decide } from '../../server/base/tracing/sdk.ts'
import { startTestGateway } from '../support/in-process.ts'
import { type SentSpan, startCollector, valuesOf } from './collector.ts'

const listen = async (server: ReturnType<typeof createServer>) => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** A vendor of chat completions that fails as it is told, and keeps the heads of its requests. */
function createVendor() {
  const heads: IncomingHttpHeaders[] = []
  const state = { status: 200 }
  const usage = {
    prompt_tokens: 9,
    completion_tokens: 4,
    total_tokens: 13,
    prompt_tokens_details: { cached_tokens: 2 },
  }
  const server = createServer((request, response) => {
    heads.push(request.headers)
    request.resume()
    const { status } = state
    const message = { role: 'assistant', content: 'a canary in an answer' }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    const good = { id: 'cmpl-7', object: 'chat.completion', created: 1, model: 'm', choices, usage }
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(status === 200 ? good : { error: { message: 'overloaded' } }))
  })
  return { server, heads, state }
}

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const TRACEPARENT = `00-${TRACE}-b7ad6b7169203331-01`

async function open(environment: Readonly<Record<string, string>>) {
  const vendor = createVendor()
  const base_url = `http://127.0.0.1:${await listen(vendor.server)}/v1`
  const gateway = await startTestGateway(environment)
  const settings = { base_url, api_key: 'sk-of-a-vendor' }
  await gateway.apply({
    channels: [{ id: 'main', upstream: 'openai-compatible', settings }],
    models: [
      {
        id: 'ours',
        type: 'chat',
        prices: [{ unit: 'call', amount: '0.1' }],
        routes: [{ channel: 'main', upstream_model: 'theirs' }],
      },
    ],
  })
  const { key, accountId } = await gateway.tenant({ balance: '10' })
  const messages = [{ role: 'user', content: 'a canary in a prompt' }]
  const call = (headers: object = {}) =>
    gateway.post('/v1/chat/completions', key, { model: 'ours', messages }, headers)
  return { vendor, gateway, call, accountId, port: Number(new URL(base_url).port) }
}

describe('a traced call', () => {
  let collector: Awaited<ReturnType<typeof startCollector>>
  let opened: Awaited<ReturnType<typeof open>>
  let spans: readonly SentSpan[]
  before(async () => {
    collector = await startCollector()
    // The SDK reads the environment of the process.
    Object.assign(process.env, collector.environment)
    opened = await open(collector.environment)
    await opened.call({ traceparent: TRACEPARENT })
    opened.vendor.state.status = 400
    await opened.call({ traceparent: TRACEPARENT })
    await fetch(`${opened.gateway.url}/readyz`)
    await opened.gateway.stop()
    spans = collector.spans()
  })
  after(() => {
    opened.vendor.server.close()
    for (const name of Object.keys(collector.environment)) delete process.env[name]
    return collector.stop()
  })

  test('is a span for the caller and one for the vendor, with its tokens', () => {
    const [whole] = spans.filter(({ kind }) => kind === 2)
    const [attempt] = spans.filter(({ kind }) => kind === 3)
    assert.ok(whole && attempt)
    assert.deepEqual([whole.name, whole.parentSpanId], ['chat ours', 'b7ad6b7169203331'])
    assert.deepEqual([attempt.name, attempt.parentSpanId], ['chat theirs', whole.spanId])
    const told = valuesOf(attempt)
    const expected = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'theirs',
      'gen_ai.request.stream': false,
      'gen_ai.usage.input_tokens': 9,
      'gen_ai.usage.cache_read.input_tokens': 2,
      'gen_ai.usage.output_tokens': 4,
      'server.address': '127.0.0.1',
      'server.port': opened.port,
    }
    for (const [name, value] of Object.entries(expected)) assert.equal(told[name], value, name)
    assert.equal(valuesOf(whole)['gen_ai.request.model'], 'ours')
    assert.equal(valuesOf(whole)['http.route'], '/v1/chat/completions')
  })

  test('reaches the vendor as the parent of its own work', () => {
    const ids = spans.filter(({ kind }) => kind === 3).map(({ spanId }) => spanId)
    assert.deepEqual(
      opened.vendor.heads.map(({ traceparent }) => traceparent),
      ids.map((id) => `00-${TRACE}-${id}-01`),
    )
  })

  test('that fails says why; probes are no spans; no content anywhere', () => {
    const [, refused] = spans.filter(({ kind }) => kind === 3)
    assert.equal(refused?.status?.code, 2)
    assert.equal(refused && valuesOf(refused)['error.type'], 'rejected')
    assert.equal(spans.filter(({ name }) => name.includes('readyz')).length, 0)
    const sent = Object.values(collector.bodies).flat().join()
    for (const word of ['canary', 'sk-of-a-vendor', 'overloaded']) assert.ok(!sent.includes(word))
  })

  test('counts in the histograms of the conventions, by no account', () => {
    const usage = collector.points('gen_ai.client.token.usage').map((point) => {
      assert.equal(point.bucketCounts.length, 15)
      return [valuesOf(point)['gen_ai.token.type'], point.sum]
    })
    assert.deepEqual(usage, [
      ['input', 9],
      ['output', 4],
    ])
    const errors = collector
      .points('gen_ai.client.operation.duration')
      .map((point) => valuesOf(point)['error.type'])
    assert.deepEqual(errors, [undefined, 'rejected'])
    assert.equal(collector.points('gen_ai.server.request.duration').length, 2)
    assert.ok(!collector.bodies.metrics.join().includes(opened.accountId))
  })
})

test('without a collector the caller’s trace passes unchanged, and none is invented', async (t) => {
  const { vendor, gateway, call } = await open({})
  t.after(() => vendor.server.close())
  await call({ traceparent: TRACEPARENT })
  await call()
  await call({ traceparent: 'nonsense' })
  await gateway.stop()
  assert.deepEqual(
    vendor.heads.map(({ traceparent }) => traceparent),
    [TRACEPARENT, undefined, undefined],
  )
})

test('the caller decides about sampling; the ratio about the rest', () => {
  const unsampled = TRACEPARENT.replace(/1$/, '0')
  const by = (ratio: number) => decide({ name: 'parentbased_traceidratio', ratio })
  assert.equal(startTrace(TRACEPARENT, by(0))?.isSampled, true)
  assert.equal(startTrace(unsampled, by(1))?.isSampled, false)
  assert.equal(startTrace(unsampled, decide({ name: 'always_on', ratio: 0 }))?.isSampled, true)
  const sampled = (ratio: number) =>
    Array.from({ length: 2000 }, () => startTrace(undefined, by(ratio))?.isSampled).filter(Boolean)
  assert.deepEqual([sampled(0).length, sampled(1).length], [0, 2000])
  const half = sampled(0.5).length
  assert.ok(half > 800 && half < 1200, `${half} of 2000`)
  assert.equal(startTrace(undefined, undefined), undefined)
})
