/** Traces and metrics by the conventions for generative AI, and the trace that a vendor gets. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { startTrace } from '../../server/http/trace-context.ts'
import { startTestGateway } from '../support/in-process.ts'

type Values = Readonly<Record<string, string | number | boolean | undefined>>

interface SentSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly status?: { readonly code: number }
  readonly attributes: readonly { readonly key: string; readonly value: object }[]
}

function valuesOf({ attributes }: Pick<SentSpan, 'attributes'>): Values {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}

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

function createCollector() {
  const bodies = { traces: [] as string[], metrics: [] as string[] }
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    bodies[request.url === '/v1/metrics' ? 'metrics' : 'traces'].push(text)
    response.end('{}')
  })
  const spans = (): SentSpan[] =>
    bodies.traces.flatMap((body) => JSON.parse(body).resourceSpans[0].scopeSpans[0].spans)
  return { server, bodies, spans }
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
  const collector = createCollector()
  let opened: Awaited<ReturnType<typeof open>>
  let spans: readonly SentSpan[]
  before(async () => {
    const port = await listen(collector.server)
    opened = await open({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` })
    await opened.call({ traceparent: TRACEPARENT })
    opened.vendor.state.status = 400
    await opened.call({ traceparent: TRACEPARENT })
    await fetch(`${opened.gateway.url}/readyz`)
    await opened.gateway.stop()
    spans = collector.spans()
  })
  after(() => {
    opened.vendor.server.close()
    collector.server.close()
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
      'gen_ai.usage.input_tokens': '9',
      'gen_ai.usage.cache_read.input_tokens': '2',
      'gen_ai.usage.output_tokens': '4',
      'server.address': '127.0.0.1',
      'server.port': String(opened.port),
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
    const sent = [...collector.bodies.traces, ...collector.bodies.metrics].join()
    for (const word of ['canary', 'sk-of-a-vendor', 'overloaded']) assert.ok(!sent.includes(word))
  })

  test('counts in the histograms of the conventions, by no account', () => {
    const [sent = ''] = collector.bodies.metrics
    const { metrics } = JSON.parse(sent).resourceMetrics[0].scopeMetrics[0]
    const find = (name: string) =>
      metrics.find((one: { name: string }) => one.name === name)?.histogram.dataPoints ?? []
    const usage = find('gen_ai.client.token.usage').map(
      (point: Parameters<typeof valuesOf>[0] & { sum: number; bucketCounts: string[] }) => {
        assert.equal(point.bucketCounts.length, 15)
        return [valuesOf(point)['gen_ai.token.type'], point.sum]
      },
    )
    assert.deepEqual(usage, [
      ['input', 9],
      ['output', 4],
    ])
    const errors = find('gen_ai.client.operation.duration').map(
      (point: Parameters<typeof valuesOf>[0]) => valuesOf(point)['error.type'],
    )
    assert.deepEqual(errors, [undefined, 'rejected'])
    assert.equal(find('gen_ai.server.request.duration').length, 2)
    assert.ok(!sent.includes(opened.accountId))
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
  assert.equal(startTrace(TRACEPARENT, 0)?.isSampled, true)
  assert.equal(startTrace(unsampled, 1)?.isSampled, false)
  const sampled = (ratio: number) =>
    Array.from({ length: 2000 }, () => startTrace(undefined, ratio)?.isSampled).filter(Boolean)
  assert.deepEqual([sampled(0).length, sampled(1).length], [0, 2000])
  const half = sampled(0.5).length
  assert.ok(half > 800 && half < 1200, `${half} of 2000`)
  assert.equal(startTrace(undefined, undefined), undefined)
})
