/** GET /v1/responses with an upgrade: calls of POST /v1/responses as messages of a WebSocket. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { after, before, beforeEach, test } from 'node:test'
import OpenAI from 'openai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { WebSocket } from 'ws'
import { startTestGateway, type TestGateway } from '../../../support/in-process.ts'
import { type LocalServer, readBody, startServer } from '../../../support/servers/local-server.ts'
import { until } from '../../../support/until.ts'

interface Sent {
  readonly messages?: readonly { readonly role: string; readonly content: unknown }[]
  readonly input?: readonly unknown[]
  readonly [field: string]: unknown
}

interface SocketEvent {
  readonly type: string
  readonly status?: number
  readonly error?: { readonly message: string; readonly code: string; readonly param: string }
  readonly response?: { readonly id: string; readonly status: string; readonly usage: object }
  readonly delta?: string
}

let gateway: TestGateway
let vendor: LocalServer
let seen: Sent[] = []
/** Answers a request of the vendor. */
let answer: (body: Sent, response: ServerResponse) => void

const PRICE = 1_000_000_000n
const USAGE = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }
const chunk = (delta: object, more: object = {}) =>
  `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, ...more }] })}\n\n`
const HELLO = chunk({ role: 'assistant', content: 'Hello' })
const REST =
  chunk({}, { finish_reason: 'stop' }) +
  `data: ${JSON.stringify({ id: 'c', choices: [], usage: USAGE })}\n\ndata: [DONE]\n\n`

const NATIVE_OUTPUT = [
  { type: 'reasoning', id: 'rs_1', summary: [] },
  {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'ok' }],
  },
]

function answerWell(body: Sent, response: ServerResponse): void {
  if (body.messages) {
    response.end(HELLO + REST)
    return
  }
  const usage = { input_tokens: 5, output_tokens: 3, total_tokens: 8 }
  const whole = { id: `resp_${seen.length}`, object: 'response', model: 'n', output: NATIVE_OUTPUT }
  const event = (type: string, number: number, status: string, more: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number, response: { ...whole, status, ...more } })}\n\n`
  response.end(
    event('response.created', 0, 'in_progress', { output: [] }) +
      event('response.completed', 1, 'completed', { usage }),
  )
}

before(async () => {
  vendor = await startServer(async (request, response) => {
    const body = JSON.parse(await readBody(request))
    seen.push(body)
    response.setHeader('content-type', 'text/event-stream')
    answer(body, response)
  })
  gateway = await startTestGateway()
  const base = { base_url: vendor.url, api_key: 'k' }
  const channel = (id: string, responses: string) => ({
    id,
    upstream: 'openai-compatible',
    settings: { ...base, responses },
  })
  const model = (id: string) => ({
    id,
    type: 'chat',
    prices: [{ unit: 'output_token', per: 1, amount: '1' }],
    limits: { max_output_tokens: 10 },
    routes: [{ channel: id, upstream_model: id }],
  })
  await gateway.apply({
    channels: [channel('translated', 'translate'), channel('native', 'pass')],
    models: [model('translated'), model('native')],
  })
})
after(async () => {
  await gateway.stop()
  await vendor.stop()
})
beforeEach(() => {
  seen = []
  answer = answerWell
})

/** A WebSocket whose events are read one after the other. */
class Connection {
  readonly socket: WebSocket
  private readonly waiting: SocketEvent[] = []

  constructor(key: string, url = gateway.url) {
    const headers = { authorization: `Bearer ${key}` }
    this.socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`, { headers })
    this.socket.on('message', (data) => this.waiting.push(JSON.parse(`${data}`)))
    this.socket.on('error', () => undefined)
  }

  async open(): Promise<this> {
    await once(this.socket, 'open')
    return this
  }

  create(fields: object): void {
    this.socket.send(JSON.stringify({ type: 'response.create', model: 'translated', ...fields }))
  }

  /** Reads up to an event of one of these types, and returns it. */
  async until(...types: readonly string[]): Promise<SocketEvent> {
    let found: SocketEvent | undefined
    await until(types.join(' or '), () => {
      while (!found && this.waiting.length > 0) {
        const event = this.waiting.shift()
        if (event && types.includes(event.type)) found = event
      }
      return found !== undefined
    })
    assert.ok(found)
    return found
  }

  async ask(fields: object): Promise<SocketEvent> {
    this.create(fields)
    return this.until('response.completed', 'response.failed', 'error')
  }
}

async function connect(options?: { balance?: string }) {
  const tenant = await gateway.tenant(options)
  const connection = await new Connection(tenant.key).open()
  const before = await gateway.balance(tenant.accountId)
  const charged = async () => {
    const { available, held } = await gateway.balance(tenant.accountId)
    assert.equal(held, 0n, 'no hold is left')
    return before.available - available
  }
  return { ...tenant, connection, charged }
}

test('the SDK gets every event in order, and each response is charged by its usage', async (t) => {
  const { key, accountId } = await gateway.tenant()
  const before = await gateway.balance(accountId)
  const client = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1` })
  const socket = new ResponsesWS(client)
  t.after(() => socket.close())
  const types: string[] = []
  let ended = 0
  socket.on('event', ({ type }) => types.push(type))
  socket.on('response.completed', () => {
    ended += 1
  })
  for (const [count, model] of ['translated', 'native'].entries()) {
    socket.send({ type: 'response.create', model, input: 'hi' })
    await until(`the end of response ${count}`, () => ended === count + 1)
  }
  assert.deepEqual(types.slice(0, 3), [
    'response.created',
    'response.in_progress',
    'response.output_item.added',
  ])
  assert.ok(types.includes('response.output_text.delta'))
  assert.deepEqual(types.slice(-2), ['response.created', 'response.completed'])
  assert.equal(seen[0]?.stream, true)
  assert.ok(seen[1] && !('type' in seen[1]), 'the event’s own members stay here')
  const now = await gateway.balance(accountId)
  assert.equal(before.available - now.available, 6n * PRICE)
  assert.equal(now.held, 0n)
  const usage = await gateway.get('/v1/usage', key)
  const records = usage.json.data.map((one: { endpoint: string; status: string }) => one.endpoint)
  assert.deepEqual(records, ['responses', 'responses'])
})

test('the last response is continued at a model that stores none', async () => {
  const { connection } = await connect()
  const first = await connection.ask({ input: 'one', store: false })
  const second = await connection.ask({
    previous_response_id: first.response?.id,
    input: [{ role: 'user', content: 'two' }],
    store: false,
  })
  assert.equal(second.type, 'response.completed')
  assert.deepEqual(seen[1]?.messages, [
    { role: 'user', content: 'one' },
    { role: 'assistant', content: 'Hello' },
    { role: 'user', content: 'two' },
  ])
  const third = await connection.ask({
    previous_response_id: second.response?.id,
    input: 'three',
  })
  assert.equal(third.type, 'response.completed')
  assert.equal(seen[2]?.messages?.length, 5)
  const lost = await connection.ask({ previous_response_id: first.response?.id, input: 'x' })
  assert.deepEqual([lost.type, lost.status], ['error', 400])
  connection.socket.close()
})

test('a native model without storage gets the items again, one with storage its id', async () => {
  const { connection } = await connect()
  const native = { model: 'native', input: 'one' }
  const first = await connection.ask({ ...native, store: false })
  await connection.ask({ ...native, store: false, previous_response_id: first.response?.id })
  assert.deepEqual(seen[1]?.input, [
    { type: 'message', role: 'user', content: 'one' },
    NATIVE_OUTPUT[1],
    { type: 'message', role: 'user', content: 'one' },
  ])
  assert.equal(seen[1]?.previous_response_id, undefined)
  const third = await connection.ask(native)
  await connection.ask({ ...native, previous_response_id: third.response?.id })
  assert.equal(seen[3]?.previous_response_id, third.response?.id)
  assert.equal(seen[3]?.input, 'one')
  connection.socket.close()
})

test('generate: false is free, and its input belongs to the next request', async () => {
  const { connection, charged } = await connect()
  const warm = await connection.ask({ generate: false, input: 'one' })
  assert.equal(warm.response?.status, 'completed')
  assert.equal(await charged(), 0n)
  assert.equal(seen.length, 0)
  await connection.ask({ previous_response_id: warm.response?.id, input: 'two' })
  assert.deepEqual(
    seen[0]?.messages?.map(({ content }) => content),
    ['one', 'two'],
  )
  assert.equal(await charged(), 3n * PRICE)
  connection.socket.close()
})

test('a refusal is an error event with its status, and the connection goes on', async () => {
  const { connection, charged } = await connect()
  const refused = async (fields: object) => {
    const { type, status, error } = await connection.ask(fields)
    return [type, status, error?.param ?? error?.code]
  }
  assert.deepEqual(await refused({ model: 'nowhere', input: 'x' }), ['error', 404, 'model'])
  assert.deepEqual(await refused({ background: true, input: 'x' }), ['error', 400, 'background'])
  assert.deepEqual(await refused({ type: 'response.steer' }), ['error', 400, 'type'])
  assert.deepEqual(await refused({ input: 7 }), ['error', 400, 'input'])
  connection.socket.send('{oops')
  assert.equal((await connection.until('error')).status, 400)
  assert.equal(await charged(), 0n)
  assert.equal((await connection.ask({ input: 'hi' })).type, 'response.completed')
  connection.socket.close()
})

test('a vendor’s refusal has its status and how long to wait', async () => {
  const { connection, charged } = await connect()
  answer = (_body, response) => {
    const error = { message: 'slow down', type: 'rate_limit_error', code: 'rate_limit_exceeded' }
    response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '7' })
    response.end(JSON.stringify({ error }))
  }
  const event = await connection.ask({ input: 'hi' })
  assert.deepEqual([event.type, event.status], ['error', 429])
  assert.deepEqual((event as { headers?: object }).headers, { 'retry-after': '7' })
  assert.equal(await charged(), 0n)
  connection.socket.close()
})

test('402 without money, as for a POST', async () => {
  const { connection } = await connect({ balance: '0' })
  assert.equal((await connection.ask({ input: 'hi' })).status, 402)
  assert.equal(seen.length, 0)
  connection.socket.close()
})

test('one response at a time: the second is refused by name, the first completes', async () => {
  const { connection, charged } = await connect()
  let finish = () => {}
  answer = (_body, response) => {
    response.write(HELLO)
    finish = () => void response.end(REST)
  }
  connection.create({ input: 'first' })
  await connection.until('response.output_text.delta')
  const second = await connection.ask({ input: 'second' })
  assert.equal(second.error?.code, 'response_in_progress')
  finish()
  await connection.until('response.completed')
  assert.equal(seen.length, 1)
  assert.equal(await charged(), 3n * PRICE)
  connection.socket.close()
})

test('a caller that disconnects in the middle is charged what the vendor states', async () => {
  const { connection, charged, accountId } = await connect()
  let finish = () => {}
  answer = (_body, response) => {
    response.write(HELLO)
    finish = () => void response.end(REST)
  }
  connection.create({ input: 'hi' })
  await connection.until('response.output_text.delta')
  connection.socket.terminate()
  await once(connection.socket, 'close')
  finish()
  await until('the settlement', async () => (await gateway.balance(accountId)).held === 0n)
  assert.equal(await charged(), 3n * PRICE)
})

test('the handshake: 401 without a key, 404 on other paths, 426 without an upgrade', async () => {
  const { key } = await gateway.tenant()
  const status = async (path: string, headers: Record<string, string>) => {
    const socket = new WebSocket(gateway.url.replace('http', 'ws') + path, { headers })
    socket.on('error', () => undefined)
    const [, refusal] = await once(socket, 'unexpected-response')
    refusal.resume()
    return refusal.statusCode
  }
  const authorization = `Bearer ${key}`
  assert.equal(await status('/v1/responses', {}), 401)
  assert.equal(await status('/v1/realtime', { authorization }), 404)
  assert.equal(await status('/v1/models', { authorization }), 200)
  assert.equal((await gateway.get('/v1/responses', key)).status, 426)
})

test('a message has a limit; a shutdown closes idle connections and lets a response end', async () => {
  const stopping = await startTestGateway({ CHAT_BODY_BYTES_MAX: '2000' })
  const settings = { base_url: vendor.url, api_key: 'k', responses: 'translate' }
  await stopping.apply({
    channels: [{ id: 'v', upstream: 'openai-compatible', settings }],
    models: [
      {
        id: 'translated',
        type: 'chat',
        prices: [{ unit: 'output_token', per: 1, amount: '1' }],
        limits: { max_output_tokens: 10 },
        routes: [{ channel: 'v', upstream_model: 'v' }],
      },
    ],
  })
  const { key } = await stopping.tenant()
  const large = await new Connection(key, stopping.url).open()
  large.create({ input: 'x'.repeat(3000) })
  const [largeCode] = await once(large.socket, 'close')
  assert.equal(largeCode, 1009, 'a message beyond the limit of bodies')
  const idle = await new Connection(key, stopping.url).open()
  const busy = await new Connection(key, stopping.url).open()
  let finish = () => {}
  answer = (_body, response) => {
    response.write(HELLO)
    finish = () => void response.end(REST)
  }
  busy.create({ input: 'hi' })
  await busy.until('response.output_text.delta')
  const closed = Promise.all([once(idle.socket, 'close'), once(busy.socket, 'close')])
  const stopped = stopping.stop()
  await once(idle.socket, 'close')
  finish()
  await busy.until('response.completed')
  const [[idleCode], [busyCode]] = await closed
  assert.deepEqual([idleCode, busyCode], [1001, 1001])
  await stopped
})
