import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { loadConfig } from '../../server/api/config/config.ts'
import { parseTraceParent } from '../../server/base/http/trace-context.ts'
import { findFreePort } from '../support/free-port.ts'
import { startTestGateway } from '../support/in-process.ts'
import { until } from '../support/until.ts'
import { startCollector, valuesOf } from './collector.ts'

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

/** The SDK reads the environment of the process. */
async function startTraced(environment: Readonly<Record<string, string>>) {
  Object.assign(process.env, environment)
  return startTestGateway(environment)
}

afterEach(() => {
  for (const name of Object.keys(process.env)) if (/^OTEL_/.test(name)) delete process.env[name]
})

test('traces, metrics and log lines: a call, its parts, and nothing that the caller wrote', async () => {
  const collector = await startCollector()
  const gateway = await startTraced({
    ...collector.environment,
    LOG_LEVEL: 'info',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging',
  })
  const tenant = await gateway.tenant()
  const body = { Type: 'web', Query: 'a canary in a query', Count: 1 }
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const answer = await gateway.post('/v1/search', tenant.key, body, { traceparent })
  const unsampled = { traceparent: traceparent.replace(/01$/, '00') }
  await gateway.post('/v1/search', tenant.key, body, unsampled)
  assert.equal(answer.status, 200)
  // The last spans leave when a gateway stops.
  await gateway.stop()
  await collector.stop()

  const [whole, ...parts] = collector.spans()
  assert.equal(whole?.name, 'search vendor-web-search')
  assert.equal(whole?.traceId, '0af7651916cd43dd8448eb211c80319c')
  assert.equal(whole?.parentSpanId, 'b7ad6b7169203331')
  const told = valuesOf(whole)
  const requestId = answer.headers.get('x-request-id')
  assert.equal(told['tributary.request_id'], requestId)
  assert.equal(told['http.response.status_code'], 200)
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

  const resource = collector.resource()
  assert.equal(resource['service.name'], 'tributary')
  assert.equal(resource['deployment.environment.name'], 'staging')
  // On a busy machine the watchdog has a line of its own for a request.
  const line = collector
    .lines()
    .find((one) => one.body.stringValue === 'request' && valuesOf(one).request_id === requestId)
  assert.equal(line?.severityText, 'INFO')
  assert.deepEqual([line?.traceId, line?.spanId], [whole.traceId, whole.spanId])
  const sent = Object.values(collector.bodies).flat().join()
  for (const secret of ['canary', tenant.key]) assert.ok(!sent.includes(secret), secret)
})

test('a collector that refuses costs no call, and what it did not take is counted', async () => {
  const collector = await startCollector()
  const metricsPort = await findFreePort()
  collector.state.status = 400
  const gateway = await startTraced({
    ...collector.environment,
    // Where no protocol is named, it is protobuf.
    OTEL_EXPORTER_OTLP_PROTOCOL: '',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1',
    METRICS_PORT: String(metricsPort),
  })
  const { key } = await gateway.tenant()
  const answer = await gateway.post('/v1/search', key, { Type: 'web', Query: 'river' })
  assert.equal(answer.status, 200)
  await until('a span that is counted as lost', async () => {
    const text = await fetch(`http://127.0.0.1:${metricsPort}/metrics`)
    return /^tributary_spans_dropped_total [1-9]/m.test(await text.text())
  })
  await gateway.stop()
  await collector.stop()
  assert.ok(collector.bodies.traces.length > 0)
  assert.deepEqual([...collector.types], ['application/x-protobuf'])
})

test('each signal may be off, and the SDK as a whole', () => {
  const loads = (environment: object) => loadConfig({ ...environment }).loadsTelemetry
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }
  assert.equal(loads({}), false)
  assert.equal(loads({ OTEL_SERVICE_NAME: 'a', OTEL_TRACES_EXPORTER: 'none' }), false)
  assert.equal(loads({ ...endpoint, OTEL_SDK_DISABLED: 'true' }), false)
  assert.equal(loads(endpoint), true)
  assert.equal(loads({ OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://127.0.0.1:1' }), true)
  assert.equal(loads({ OTEL_METRICS_EXPORTER: 'console' }), true)
})
