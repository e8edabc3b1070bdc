/** Stored responses of a vendor that fails, sends endlessly or is silent. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import { startTestGateway, type Tenant, type TestGateway } from '../../support/in-process.ts'
import { type LocalServer, startServer } from '../../support/servers/local-server.ts'
import { until } from '../../support/until.ts'

const PATH = '/v1/responses'
const MB = 1024 * 1024
const KEPT = {
  id: 'resp_kept',
  object: 'response',
  status: 'completed',
  output: [{ type: 'message', role: 'assistant', content: [] }],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
}

let gateway: TestGateway
let vendor: LocalServer
let answer: (response: ServerResponse) => void
let sentBytes = 0
let wasLeft = false
let count = 0
let odd: object = {}

before(async () => {
  vendor = await startServer((request, response) => {
    request.resume()
    response.on('close', () => {
      wasLeft ||= !response.writableFinished
    })
    if (request.method !== 'POST') return answer(response)
    count += 1
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ...KEPT, id: `resp_${count}`, ...odd }))
  })
  gateway = await startTestGateway({ UPSTREAM_ANSWER_BYTES_MAX: String(MB) })
  await gateway.apply({
    channels: [
      {
        id: 'odd',
        upstream: 'openai-compatible',
        settings: { base_url: `${vendor.url}/v1`, api_key: 'k' },
      },
    ],
    models: [
      {
        id: 'odd',
        type: 'chat',
        prices: [
          { unit: 'input_token', per: 1, amount: '0.001' },
          { unit: 'output_token', per: 1, amount: '0.001' },
        ],
        routes: [{ channel: 'odd', upstream_model: 'x' }],
      },
    ],
  })
})
after(async () => {
  await gateway.stop()
  await vendor.stop()
})

async function keep(tenant: Tenant): Promise<string> {
  const created = await gateway.post(PATH, tenant.key, { model: 'odd', input: 'hi' })
  assert.equal(created.status, 200, created.text)
  return `${PATH}/${created.json.id}`
}

function flood(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  const piece = Buffer.alloc(64 * 1024, ' ')
  const more = () => {
    if (response.destroyed) return
    sentBytes += piece.length
    response.write(piece, () => setImmediate(more))
  }
  more()
}

test('an endless answer is cut at the limit: a retryable 502, recorded as failed', async () => {
  const tenant = await gateway.tenant()
  const path = await keep(tenant)
  answer = flood
  const read = await gateway.get(path, tenant.key)
  assert.equal(read.status, 502)
  assert.equal(read.headers.get('x-should-retry'), 'true')
  assert.ok(sentBytes < 64 * MB, `${sentBytes} bytes were taken`)
  const record = await gateway.record(read, tenant.key)
  assert.deepEqual([record.status, record.charged], ['failed', '0'])
})

for (const [status, passed] of [
  [500, 502],
  [401, 502],
  [404, 404],
] as const) {
  test(`${status} of the vendor: ${passed}, and the record says failed`, async () => {
    const tenant = await gateway.tenant()
    const path = await keep(tenant)
    answer = (response) => void response.writeHead(status).end('{"error":{"message":"no"}}')
    const read = await gateway.get(path, tenant.key)
    assert.equal(read.status, passed)
    assert.equal((await gateway.record(read, tenant.key)).status, 'failed')
    assert.equal((await gateway.balance(tenant.accountId)).held, 0n)
  })
}

test('an uncharged response without usage cannot be read later', async () => {
  const tenant = await gateway.tenant()
  odd = { status: 'queued', usage: null, output: [] }
  const body = { model: 'odd', input: 'hi' }
  const misspelt = await gateway.post(PATH, tenant.key, { ...body, Background: true })
  assert.deepEqual([misspelt.status, misspelt.json.error.param], [400, 'Background'])
  const created = await gateway.post(PATH, tenant.key, body)
  odd = {}
  assert.equal(created.status, 200, created.text)
  answer = (response) => void response.writeHead(200).end(JSON.stringify(KEPT))
  assert.equal((await gateway.get(`${PATH}/${created.json.id}`, tenant.key)).status, 404)
})

test('a caller that disconnects: reading stops, and the record says cancelled', async () => {
  const tenant = await gateway.tenant()
  const path = await keep(tenant)
  wasLeft = false
  const leaving = new AbortController()
  answer = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write(' ')
    leaving.abort()
  }
  await assert.rejects(gateway.fetch(path, { key: tenant.key, signal: leaving.signal }))
  await until('the vendor is disconnected', () => wasLeft || undefined)
  const status = await until('the record', async () => {
    const [row] = await gateway.sql<{ status: string }[]>`
      select status from call where account_id = ${tenant.accountId}
        and endpoint = 'responses.stored'`
    return row?.status
  })
  assert.equal(status, 'cancelled')
})
