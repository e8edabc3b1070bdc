import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { parseTraceParent } from '../../server/http/trace-context.ts'
import type { Span } from '../../server/tracing/span.ts'
import { startTestGateway, type Tenant, type TestGateway } from '../support/in-process.ts'
import { startServer } from '../support/servers/local-server.ts'

describe('the caller’s trace', () => {
  const trace = '0af7651916cd43dd8448eb211c80319c'
  const known = { traceId: trace, spanId: 'b7ad6b7169203331' }

  test('is read as W3C says', () => {
    const sampled = parseTraceParent(`00-${trace}-b7ad6b7169203331-01`)
    assert.deepEqual(sampled, { ...known, sampled: true })
    assert.equal(parseTraceParent(`00-${trace}-b7ad6b7169203331-00`)?.sampled, false)
    assert.deepEqual(parseTraceParent(`cc-${trace}-b7ad6b7169203331-01-more`)?.spanId, known.spanId)
  })

  for (const header of [
    '',
    'nonsense',
    `ff-${trace}-b7ad6b7169203331-01`,
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace.toUpperCase()}-b7ad6b7169203331-01`,
    `00-${trace}-b7ad6b7169203331`,
    ['a', 'b'],
    undefined,
  ]) {
    test(`is none: ${JSON.stringify(header)}`, () => {
      assert.equal(parseTraceParent(header), undefined)
    })
  }
})

/** Takes what a gateway sends, or refuses it. */
async function startCollector() {
  const bodies: string[] = []
  const metrics: string[] = []
  const state = { status: 200 }
  const server = await startServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    if (request.url === '/base/v1/traces') bodies.push(text)
    if (request.url === '/base/v1/metrics') metrics.push(text)
    response.writeHead(state.status).end('{}')
  })
  return {
    bodies,
    metrics,
    state,
    url: `${server.url}/base/`,
    spans: () => bodies.flatMap((body) => JSON.parse(body).resourceSpans[0].scopeSpans[0].spans),
    stop: server.stop,
  }
}

describe('traces', () => {
  let collector: Awaited<ReturnType<typeof startCollector>>
  let gateway: TestGateway
  let tenant: Tenant
  before(async () => {
    collector = await startCollector()
    gateway = await startTestGateway({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
    tenant = await gateway.tenant()
  })
  after(() => collector.stop())

  test('tell of a call and its parts, and nothing that the caller wrote', async () => {
    const body = { Type: 'web', Query: 'a canary in a query', Count: 1 }
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const answer = await gateway.post('/v1/search', tenant.key, body, { traceparent })
    const unsampled = { traceparent: traceparent.replace(/01$/, '00') }
    await gateway.post('/v1/search', tenant.key, body, unsampled)
    assert.equal(answer.status, 200)
    // The last spans leave when a gateway stops.
    await gateway.stop()

    const spans: Span[] = collector.spans()
    const [whole, ...parts] = spans
    assert.equal(whole?.name, 'search vendor-web-search')
    assert.equal(whole?.traceId, '0af7651916cd43dd8448eb211c80319c')
    assert.equal(whole?.parentSpanId, 'b7ad6b7169203331')
    const told = Object.fromEntries(
      whole.attributes.map(({ key, value }) => [key, Object.values(value)[0]]),
    )
    assert.equal(told['tributary.request_id'], answer.headers.get('x-request-id'))
    assert.equal(told['http.response.status_code'], '200')
    assert.equal(told['tributary.account_id'], tenant.accountId)
    assert.deepEqual(parts.map(({ kind }) => kind).sort(), [1, 1, 1, 3])
    const names = parts.filter(({ kind }) => kind === 1).map(({ name }) => name)
    assert.deepEqual(names.sort(), ['auth', 'hold', 'settle'])
    for (const part of parts) {
      assert.equal(part.parentSpanId, whole.spanId)
      assert.equal(part.traceId, whole.traceId)
      assert.ok(BigInt(part.startTimeUnixNano) >= BigInt(whole.startTimeUnixNano))
      assert.ok(BigInt(part.endTimeUnixNano) <= BigInt(whole.endTimeUnixNano))
    }
    const [sent = ''] = collector.bodies
    for (const secret of ['canary', tenant.key]) assert.ok(!sent.includes(secret))
  })
})

test('a collector that refuses costs no call', async () => {
  const collector = await startCollector()
  collector.state.status = 503
  const gateway = await startTestGateway({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  const { key } = await gateway.tenant()
  const answer = await gateway.post('/v1/search', key, { Type: 'web', Query: 'river' })
  assert.equal(answer.status, 200)
  await gateway.stop()
  assert.equal(collector.bodies.length, 1)
  collector.stop()
})
