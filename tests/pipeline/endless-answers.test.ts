/** Answers that never end, or never end a line, are cut and cost no more than the hold. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../support/in-process.ts'
import { drip } from '../support/servers/drip.ts'
import { type LocalServer, startServer } from '../support/servers/local-server.ts'

const PATH = '/v1/chat/completions'
/** Long enough for a connection on a busy machine, short enough for a test. */
const TOTAL_MS = '4000'
const MEGABYTE = Buffer.alloc(1024 * 1024, 'x')
const CHUNK = (text: string) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`

let gateway: TestGateway
let vendor: LocalServer
/** The behaviour of the next answer; resolves when its connection is closed. */
let script: (response: ServerResponse) => Promise<void> = async () => undefined
let closed: Promise<unknown> = Promise.resolve()

before(async () => {
  vendor = await startServer((request, response) => {
    request.resume()
    closed = once(response, 'close')
    script(response).catch(() => response.destroy())
  })
  gateway = await startTestGateway({
    UPSTREAM_TOTAL_TIMEOUT_MS: TOTAL_MS,
    UPSTREAM_STREAM_TIMEOUT_MS: TOTAL_MS,
  })
  const price = (unit: string) => ({ unit, per: 1, amount: '0.001' })
  await gateway.apply({
    channels: [
      {
        id: 'endless',
        upstream: 'openai-compatible',
        settings: { base_url: `${vendor.url}/v1`, api_key: 'a-key' },
      },
    ],
    models: [
      {
        id: 'endless',
        type: 'chat',
        prices: [price('input_token'), price('output_token')],
        routes: [{ channel: 'endless', upstream_model: 'm' }],
        limits: { max_output_tokens: 1_000, total_timeout_ms: 60_000 },
      },
      {
        id: 'slow',
        type: 'chat',
        prices: [price('input_token'), price('output_token')],
        routes: [{ channel: 'endless', upstream_model: 'm' }],
        limits: { max_output_tokens: 1_000 },
      },
    ],
  })
})
after(async () => {
  await gateway.stop()
  await vendor.stop()
})

const chatBody = (model: string, stream: boolean) => ({
  model,
  stream,
  max_tokens: 10,
  messages: [{ role: 'user', content: 'hi' }],
})

/** Writes endlessly, as fast as it is read. */
async function pour(response: ServerResponse, bytes: Buffer | string): Promise<void> {
  while (!response.destroyed) {
    if (!response.write(bytes)) {
      await Promise.race([once(response, 'drain'), once(response, 'close')])
    }
  }
}

async function charge(model: string) {
  const { key, accountId } = await gateway.tenant({ balance: '100000' })
  const answer = await gateway.post(PATH, key, chatBody(model, true))
  assert.equal(answer.status, 200)
  await closed
  const record = await gateway.record(answer, key)
  assert.ok(Number(record.charged) <= Number(record.held), JSON.stringify(record))
  assert.equal((await gateway.balance(accountId)).debt, 0n)
  return record
}

test('a stream without line ends', async () => {
  script = async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(CHUNK('a word'))
    await pour(response, MEGABYTE)
  }
  const record = await charge('endless')
  assert.equal(record.status, 'failed')
})

test('a stream far past the allowed output', async () => {
  script = async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    await pour(response, CHUNK('word '.repeat(10_000)))
  }
  const record = await charge('endless')
  assert.equal(record.basis, 'partial')
})

test('a stream that sends slowly without end', async () => {
  script = async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    await drip(response, 50, () => CHUNK('a'))
  }
  const record = await charge('slow')
  assert.equal(record.basis, 'partial')
})

test('a first event that never completes is a 502, and the hold is released', async () => {
  script = async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: ')
    await drip(response, 50, () => ' ')
  }
  const { key } = await gateway.tenant()
  const answer = await gateway.post(PATH, key, chatBody('slow', true))
  assert.equal(answer.status, 502)
  assert.equal((await gateway.record(answer, key)).charged, '0')
})

test('a whole answer that never completes is a 502, and the hold is released', async () => {
  script = async (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    await drip(response, 50, () => ' ')
  }
  const { key } = await gateway.tenant()
  const answer = await gateway.post(PATH, key, chatBody('slow', false))
  assert.equal(answer.status, 502)
  assert.equal((await gateway.record(answer, key)).charged, '0')
})
