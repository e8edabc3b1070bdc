/** Metrics of real calls, and the bound on what they are kept by. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createMetrics, listMetrics } from '../../server/api/metrics/metrics.ts'
import { upsertCommandRun } from '../../server/money/usage/command-run-store.ts'
import { findFreePort } from '../support/free-port.ts'
import { startTestGateway, type Tenant, type TestGateway } from '../support/in-process.ts'
import { testMemory } from '../support/memory.ts'
import { until } from '../support/until.ts'

/** Returns the value of the series of a name that has all of these labels. */
function readValue(text: string, name: string, labels: Readonly<Record<string, string>> = {}) {
  const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`)
  const line = text
    .split('\n')
    .find((one) => /^[a-z_0-9]+/.exec(one)?.[0] === name && wanted.every((w) => one.includes(w)))
  return line === undefined ? undefined : Number(line.split(' ').at(-1))
}

/** Long enough for the watch, whose own timer may be late for what came before. */
const HELD_MS = 300

describe('metrics', () => {
  let gateway: TestGateway
  let tenant: Tenant
  let scrape: () => Promise<string>
  before(async () => {
    const port = await findFreePort()
    scrape = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    gateway = await startTestGateway({ METRICS_PORT: String(port), ROLE: 'api', LOG_LEVEL: 'warn' })
    tenant = await gateway.tenant({ balance: '10' })
  })
  after(() => gateway.stop())

  const ask = (body: object, key = tenant.key) =>
    gateway.post('/v1/chat/completions', key, {
      model: 'sim-chat',
      messages: [{ role: 'user', content: 'Name three rivers.' }],
      ...body,
    })
  const place = { endpoint: 'chat.completions', model: 'sim-chat', channel: 'sim-openai' }

  test('of commands that have succeeded once, by the newest place', async () => {
    const name = 'tributary_command_success_timestamp_seconds'
    const { sql } = gateway
    assert.equal(readValue(await scrape(), name), undefined)
    const run = { command: 'backup', place: 'old', hasSucceeded: true, version: '1' } as const
    await upsertCommandRun(sql, run)
    await sql`update command_run set succeeded_at = to_timestamp(1000)`
    await upsertCommandRun(sql, { ...run, command: 'audit', hasSucceeded: false })
    const read = async () => readValue(await scrape(), name, { command: 'backup' })
    await until('the first success', async () => (await read()) === 1000)
    await upsertCommandRun(sql, { ...run, place: 'new' })
    await until('the newer one', async () => ((await read()) ?? 0) > 1_000_000)
    assert.equal(readValue(await scrape(), name, { command: 'audit' }), undefined)
  })

  test('of a whole call and of a stream, by endpoint, model and channel', async () => {
    const whole = await ask({})
    const { prompt_tokens: input } = whole.json.usage
    const streamed = await ask({ stream: true })
    assert.equal(streamed.status, 200)
    const text = await scrape()
    assert.equal(readValue(text, 'tributary_calls_total', { ...place, status: 'succeeded' }), 2)
    const tokens = readValue(text, 'tributary_tokens_total', { ...place, kind: 'input_token' })
    assert.equal(tokens, 2 * input)
    const charged = await Promise.all(
      [whole, streamed].map(async (one) => Number((await gateway.record(one, tenant.key)).charged)),
    )
    const total = readValue(text, 'tributary_charged_total', { ...place, currency: 'CNY' }) ?? 0
    assert.ok(Math.abs(total - (charged[0] ?? 0) - (charged[1] ?? 0)) < 1e-9)
    const count = (name: string) => readValue(text, `${name}_count`, place)
    assert.equal(count('tributary_time_to_first_token_seconds'), 1)
    assert.equal(count('tributary_time_per_output_token_seconds'), 1)
    assert.equal(count('tributary_upstream_seconds'), 2)
    assert.equal(readValue(text, 'tributary_requests_total', { route: '/readyz' }), undefined)
  })

  test('of refusals, by their reason', async () => {
    await ask({}, 'tr-nobody')
    await ask({ model: 'a-model-that-a-caller-made-up' })
    await ask({ messages: 7 })
    const poor = await gateway.tenant({ balance: '0.000000001' })
    await ask({}, poor.key)
    const text = await scrape()
    const route = '/v1/chat/completions'
    for (const reason of [
      'unauthenticated',
      'not_found',
      'invalid_request',
      'insufficient_balance',
    ])
      assert.equal(readValue(text, 'tributary_refusals_total', { route, reason }), 1, reason)
    for (const word of ['made-up', tenant.accountId, tenant.keyId, tenant.key]) {
      assert.ok(!text.includes(word), `${word} is in the metrics`)
    }
  })

  test('of what holds the event loop up, which the log tells with its request', async (t) => {
    const heldBefore = readValue(await scrape(), 'tributary_loop_held_total') ?? 0
    const { parse } = JSON
    t.mock.method(JSON, 'parse', (text: string) => {
      // The gateway's own reading of the body, not that of the simulated vendor.
      if (text.startsWith('{"model":"sim-chat","messages":[{"role":"user","content":"Hold up')) {
        const end = performance.now() + HELD_MS
        while (performance.now() < end);
      }
      return parse(text)
    })
    const lines: string[] = []
    t.mock.method(process.stdout, 'write', (line: unknown) => lines.push(String(line)) > 0)
    const answer = await ask({ messages: [{ role: 'user', content: 'Hold up the loop.' }] })
    const id = `"request_id":"${answer.headers.get('x-request-id')}"`
    const held = await until('the line', () => lines.find((line) => line.includes(id)))
    t.mock.restoreAll()
    const { duration_ms: heldMs, request_ms: requestMs, ...told } = parse(held)
    assert.equal(told.route, '/v1/chat/completions')
    assert.equal(told.account_id, tenant.accountId)
    assert.ok(heldMs >= 200 && requestMs >= HELD_MS && told.cpu_ms > 0, held)
    const text = await scrape()
    assert.ok((readValue(text, 'tributary_loop_held_total') ?? 0) > heldBefore)
    assert.ok((readValue(text, 'tributary_loop_held_seconds_total') ?? 0) >= 0.2)
  })

  test('of tasks whose polls keep failing, until one succeeds', async () => {
    const count = async () => {
      const channel = { channel: 'sim-ark-media' }
      return readValue(await scrape(), 'tributary_tasks_polls_failing', channel)
    }
    const { json } = await gateway.post('/v1/videos/generations', tenant.key, {
      model: 'doubao-seedance-1-0-pro-250528',
      content: [{ type: 'text', text: 'a river' }],
    })
    const { id } = json
    const fail = (failures: number) =>
      gateway.sql`update task set failures = ${failures} where id = ${id}`
    await fail(5)
    await until('it is counted', async () => (await count()) === 1)
    await fail(4)
    await until('it is not', async () => (await count()) === undefined)
  })

  test('of queues, connections, processes and the build', async () => {
    await gateway.sql`
      insert into delivery (id, account_id, kind, host, url, body, due_at)
      values ('dlv_old', ${tenant.accountId}, 'test', 'h.test', 'https://h.test/', '',
        now() - interval '1 hour')`
    const text = await until('the backlog shows', async () => {
      const found = await scrape()
      return (readValue(found, 'tributary_queue_due', { queue: 'webhooks' }) ?? 0) > 0 && found
    })
    assert.ok((readValue(text, 'tributary_queue_due_seconds', { queue: 'webhooks' }) ?? 0) >= 3600)
    assert.ok((readValue(text, 'tributary_database_connections', { state: 'idle' }) ?? 0) > 0)
    assert.ok((readValue(text, 'tributary_upstream_connections', { state: 'idle' }) ?? 0) > 0)
    assert.equal(readValue(text, 'tributary_live_processes'), 1)
    assert.equal(readValue(text, 'tributary_ready'), 1)
    assert.equal(readValue(text, 'tributary_build_info', { node: process.versions.node }), 1)
  })
})

test('places beyond the bound count as other, and no name is lost', async () => {
  const none = () => 0
  const metrics = createMetrics({
    version: '0',
    memory: testMemory(),
    placesMax: 3,
    callsInFlight: none,
    isReady: () => false,
    settlementsPending: none,
    unknownJournals: none,
    channelsCoolingDown: none,
    spendingCaps: () => [],
    liveOwners: none,
    upstreamConnections: () => ({ busy: 0, idle: 0 }),
    readDatabase: () => Promise.reject(new Error('the database is away')),
  })
  for (let index = 0; index < 1000; index += 1) {
    const place = { endpoint: 'chat.completions', model: `model-${index}`, channel: `c${index}` }
    const amounts = { chargedNanos: 1n, upstreamCostNanos: 1n, currency: 'CNY' }
    const ending = { status: 'succeeded', basis: 'usage', review: false } as const
    const quantities = { input_token: 1, character: 2 }
    metrics.settled({ ...place, ...ending, quantities, ...amounts })
    metrics.streamed({ ...place, firstTokenSeconds: 1, perTokenSeconds: 0.1 })
    metrics.attempt({ ...place, outcome: 'answered', seconds: 1 })
    metrics.tookOut({ ...place, tool: 'web_search' })
  }
  const text = await metrics.registry.metrics()
  assert.equal(readValue(text, 'tributary_ready'), 0)
  const models = new Set([...text.matchAll(/model="([^"]+)"/g)].map(([, model]) => model))
  assert.deepEqual([...models], ['model-0', 'model-1', 'model-2', 'other'])
  const other = { model: 'other', channel: 'other' }
  assert.equal(readValue(text, 'tributary_calls_total', other), 997)
  const tools = readValue(text, 'tributary_tools_taken_out_total', { model: 'other' })
  assert.equal(tools, 997)
  assert.equal(readValue(text, 'tributary_units_total', { ...other, unit: 'character' }), 1994)
  assert.equal(readValue(text, 'tributary_queue_due', { queue: 'tasks' }), undefined)
})

test('no metric has a label of an account, a key or a request', () => {
  const allowed = new Set(
    `endpoint model channel status kind unit currency basis review outcome route reason queue state
    operation verdict version node period tool worker command`.split(/\s+/),
  )
  const strange = listMetrics().flatMap(({ name, labels }) =>
    labels.filter((label) => !allowed.has(label)).map((label) => `${name} ${label}`),
  )
  assert.deepEqual(strange, [])
})
