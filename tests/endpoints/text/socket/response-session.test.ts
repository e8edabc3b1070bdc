/** The timers and the backpressure of a WebSocket of responses, without a network. */
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { IncomingMessage, type ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { ResponseSession } from '../../../../server/api/endpoints/text/socket/response-session.ts'
import { GatewayError } from '../../../../server/base/lib/errors.ts'
import { testMemory } from '../../../support/memory.ts'

class FakeSocket extends EventEmitter {
  readonly OPEN = 1
  readyState = 1
  bufferedAmount = 0
  isPaused = false
  closed: number | string | undefined
  pings = 0
  readonly sent: string[] = []
  onSent: (() => void) | undefined

  send(text: string, onSent: () => void): void {
    this.sent.push(text)
    this.onSent = onSent
  }
  pause(): void {
    this.isPaused = true
  }
  resume(): void {
    this.isPaused = false
  }
  ping(): void {
    this.pings += 1
  }
  close(code: number): void {
    this.closed ??= code
  }
  terminate(): void {
    this.closed ??= 'terminated'
    this.emit('close')
  }
}

const MINUTE_MS = 60_000
/** Tests with timers of their own: those of a test are shared by its connections. */
const mocked = new WeakSet<TestContext>()

function open(
  t: TestContext,
  found: Promise<undefined> = Promise.resolve(undefined),
  memory = testMemory(),
  onEnter: () => Promise<void> = async () => undefined,
) {
  if (!mocked.has(t)) t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  mocked.add(t)
  const socket = new FakeSocket()
  const responses: ServerResponse[] = []
  const services = {
    sockets: {
      handle: (_request: IncomingMessage, response: ServerResponse) => {
        responses.push(response)
      },
    },
    storedAnswers: { find: () => found },
    memory,
    limits: { clientStallMs: 2 * MINUTE_MS },
    log: { error: () => undefined },
  }
  const handshake = new IncomingMessage(new Socket())
  handshake.headers = {
    authorization: 'Bearer key',
    'idempotency-key': 'one',
    upgrade: 'websocket',
  }
  const connection = new EventEmitter()
  const options = {
    socket,
    connection,
    handshake,
    path: '/v1/responses',
    accountId: 'acc',
    enter: (_bytes: number, work: (count: () => Promise<void>) => Promise<void>) =>
      onEnter().then(() => work(async () => undefined)),
    services,
  }
  const session = new ResponseSession(options as never)
  const create = async () => {
    socket.emit('message', Buffer.from('{"type":"response.create","model":"m","input":"x"}'))
    await new Promise((resolve) => setImmediate(resolve))
    return responses.at(-1)
  }
  t.after(() => socket.emit('close'))
  return {
    socket,
    connection,
    session,
    create,
    responses,
    tick: (ms: number) => t.mock.timers.tick(ms),
  }
}

test('an idle connection is closed after ten minutes, a busy one is not', async (t) => {
  const { socket, create, tick } = open(t)
  const keepAlive = (minutes: number) => {
    for (let half = 0; half < minutes * 2; half += 1) {
      tick(MINUTE_MS / 2)
      socket.emit('pong')
    }
  }
  keepAlive(9)
  const response = await create()
  keepAlive(15)
  assert.equal(socket.closed, undefined)
  response?.end()
  keepAlive(9)
  assert.equal(socket.closed, undefined)
  keepAlive(2)
  assert.equal(socket.closed, 1000)
})

test('a connection is closed after an hour, once its response has ended', async (t) => {
  const { socket, create, tick } = open(t)
  let response: ServerResponse | undefined
  for (let minute = 0; minute < 61; minute += 1) {
    tick(MINUTE_MS / 2)
    socket.emit('pong')
    tick(MINUTE_MS / 2)
    socket.emit('pong')
    if (minute % 5 === 0 && minute < 60) response?.end()
    if (minute % 5 === 0) response = await create()
  }
  assert.equal(socket.closed, undefined)
  response?.end()
  assert.equal(socket.closed, 1000)
  const { type, status, error } = JSON.parse(socket.sent.at(-1) ?? '')
  assert.deepEqual([type, status, error.code], ['error', 400, 'websocket_connection_limit_reached'])
})

test('after a refusal of its key or of too many messages, nothing is read for a second', async (t) => {
  for (const row of ['rate_limited', 'unauthenticated', 'forbidden'] as const) {
    const refuse = () => Promise.reject(new GatewayError(row))
    const { socket, create, tick, responses } = open(t, undefined, undefined, refuse)
    await create()
    assert.equal(responses.length, 0)
    assert.equal(JSON.parse(socket.sent.at(-1) ?? '').status, new GatewayError(row).status)
    assert.equal(socket.isPaused, true)
    // What was sent has left, which is no reason to read on.
    socket.onSent?.()
    tick(999)
    assert.equal(socket.isPaused, true)
    tick(1)
    assert.equal(socket.isPaused, false)
    assert.equal(socket.closed, undefined)
  }
})

test('a peer that answers no ping is disconnected, and its response knows', async (t) => {
  const { socket, create, tick } = open(t)
  const response = await create()
  let isClosed = false
  response?.once('close', () => {
    isClosed = true
  })
  tick(MINUTE_MS / 2)
  assert.equal(socket.closed, undefined)
  tick(MINUTE_MS / 2)
  assert.equal(socket.closed, 'terminated')
  await new Promise((resolve) => setImmediate(resolve))
  assert.ok(isClosed && response?.destroyed)
})

test('a slow reader makes the response wait until its messages have left', async (t) => {
  const { socket, create } = open(t)
  const response = await create()
  response?.writeHead(200, { 'content-type': 'text/event-stream' })
  let drains = 0
  response?.on('drain', () => {
    drains += 1
  })
  assert.equal(response?.write(Buffer.from('data: {"a":1}\n\n')), true)
  socket.bufferedAmount = 2 * 1024 * 1024
  assert.equal(response?.write(Buffer.from('data: {"a":2}\n\ndata: [DONE]\n\n: x\n\n')), false)
  socket.onSent?.()
  assert.equal(drains, 0)
  socket.bufferedAmount = 0
  socket.onSent?.()
  assert.equal(drains, 1)
  assert.equal(socket.isPaused, false)
  assert.deepEqual(socket.sent, ['{"a":1}', '{"a":2}'])
})

test('an answer that was not streamed has the events that clients need', async (t) => {
  const { socket, create } = open(t)
  const response = await create()
  response?.writeHead(200, { 'content-type': 'application/json' })
  const output = [{ type: 'message', id: 'msg_1' }]
  response?.end(Buffer.from(JSON.stringify({ id: 'resp_1', status: 'incomplete', output })))
  const types = socket.sent.map((text) => JSON.parse(text).type)
  assert.deepEqual(types, [
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.output_item.done',
    'response.incomplete',
  ])
})

test('after an error of the vendor, the next message waits for no end of its stream', async (t) => {
  const { socket, create, responses } = open(t)
  const errors = ['{"type":"error"}', '{"sequence_number":4,"type": "error"}', '{"error":{}}']
  for (const [count, error] of errors.entries()) {
    const failed = await create()
    failed?.writeHead(200, { 'content-type': 'text/event-stream' })
    failed?.write(Buffer.from(`data: {"type":"response.created"}\n\ndata: ${error}\n\n`))
    assert.equal((await create()) === failed, false)
    assert.equal(responses.length, 2 * count + 2)
    assert.equal(failed?.destroyed, true, 'its stream is read without its caller')
    failed?.end(Buffer.from('data: {"type":"response.failed"}\n\n'))
    assert.equal(socket.sent.at(-1), error)
    responses.at(-1)?.end()
  }
})

test('a message that crosses the close of its connection starts nothing', async (t) => {
  const { socket, create } = open(t)
  socket.readyState = 2
  assert.equal(await create(), undefined)
})

test('nothing starts for a caller that left while its message was read', async (t) => {
  let find: (() => void) | undefined
  const found = new Promise<undefined>((resolve) => {
    find = () => resolve(undefined)
  })
  const { socket, responses } = open(t, found)
  const warm = { type: 'response.create', model: 'm', generate: false, input: 'x' }
  socket.emit('message', Buffer.from(JSON.stringify(warm)))
  await new Promise((resolve) => setImmediate(resolve))
  const { id } = JSON.parse(socket.sent.at(-1) ?? '').response
  const next = { type: 'response.create', model: 'm', previous_response_id: id, input: 'y' }
  socket.emit('message', Buffer.from(JSON.stringify(next)))
  socket.emit('close')
  find?.()
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(responses.length, 0)
})

const MB = 1024 ** 2
const usedBy = (memory: ReturnType<typeof testMemory>) => memory.bytes.usedInAll()

test('a peer that sends and does not read is read no further, and cut off in the end', async (t) => {
  const memory = testMemory()
  const { socket, tick } = open(t, undefined, memory)
  socket.bufferedAmount = 2 * MB
  socket.emit('message', Buffer.from('{"type":"other"}'))
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(socket.isPaused, true)
  assert.ok(usedBy(memory) > 0)
  tick(MINUTE_MS)
  assert.equal(socket.closed, undefined)
  tick(MINUTE_MS)
  assert.equal(socket.closed, 'terminated')
  assert.equal(usedBy(memory), 0)
})

test('messages that wait beyond the share of their account end the connection', async (t) => {
  const memory = testMemory({ bytesMax: 4_000 })
  const first = open(t, undefined, memory)
  const second = open(t, undefined, memory)
  const ask = async ({ socket }: typeof first) => {
    socket.emit('message', Buffer.from('{"type":"other"}'))
    await new Promise((resolve) => setImmediate(resolve))
  }
  await ask(first)
  for (let count = 0; count < 4 && second.socket.closed === undefined; count += 1) await ask(second)
  assert.equal(second.socket.closed, 1013)
  assert.equal(first.socket.closed, undefined)
})

test('a message that does not arrive whole is bounded in bytes and in time', (t) => {
  const memory = testMemory({ bytesMax: 3.2 * MB })
  const late = open(t, undefined, memory)
  const piece = Buffer.alloc(MB / 4)
  late.connection.emit('data', piece)
  assert.equal(usedBy(memory), piece.length)
  const large = open(t, undefined, memory)
  for (let count = 0; count < 3; count += 1) large.connection.emit('data', piece)
  assert.equal(large.socket.closed, undefined)
  large.connection.emit('data', piece)
  assert.equal(large.socket.closed, 1013)
  late.tick(MINUTE_MS / 2)
  late.socket.emit('pong')
  late.tick(MINUTE_MS / 2)
  assert.equal(late.socket.closed, 1013)
  assert.equal(usedBy(memory), 0)
})

/** The head of a masked text frame of so many bytes. */
function frameHead(bytes: number): Buffer {
  const head = Buffer.alloc(14)
  head[0] = 0x81
  head[1] = 0xff
  head.writeBigUInt64BE(BigInt(bytes), 2)
  return head
}

test('a long message waits for room in memory, for twenty seconds, and is not read', async (t) => {
  const memory = testMemory({ bytesMax: 16 * MB })
  const head = frameHead(8 * MB)
  const all = [1, 2, 3].map(() => open(t, undefined, memory))
  const paused = () => all.map(({ socket }) => socket.isPaused)
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  for (const { connection } of all) connection.emit('data', head)
  const [first, second, third] = all
  assert.deepEqual(paused(), [false, true, true])
  assert.equal(usedBy(memory), 8 * MB + 3 * head.length)
  first?.connection.emit('data', Buffer.alloc(MB))
  assert.equal(usedBy(memory), 8 * MB + 3 * head.length)
  first?.socket.emit('close')
  await settled()
  assert.deepEqual(paused(), [false, false, true])
  third?.tick(20_000)
  await settled()
  assert.equal(third?.socket.closed, 1013)
  assert.equal(second?.socket.closed, undefined)
  second?.socket.emit('close')
  await settled()
  assert.equal(usedBy(memory), 0)
})

test('what a head promises takes 8 MB, and more as it arrives', (t) => {
  const memory = testMemory({ bytesMax: 64 * MB })
  const { connection, socket } = open(t, undefined, memory)
  const head = frameHead(30 * MB)
  connection.emit('data', head)
  const used = (megabytes: number) => {
    for (let count = 0; count < megabytes; count += 1) connection.emit('data', Buffer.alloc(MB))
    return (usedBy(memory) - head.length) / MB
  }
  assert.deepEqual([used(0), used(4), used(1), used(4), used(8)], [8, 8, 16, 30, 30])
  assert.equal(socket.isPaused, false)
  socket.emit('message', Buffer.from('{"type":"other"}'))
  socket.emit('close')
  assert.equal(usedBy(memory), 0)
})

test('a short message waits for no long one, and the next long one still counts', (t) => {
  const memory = testMemory({ bytesMax: 16 * MB })
  const [long, short] = [1, 2].map(() => open(t, undefined, memory))
  long?.connection.emit('data', frameHead(8 * MB))
  short?.connection.emit('data', Buffer.from([0x81, 0x02, 0x7b, 0x7d]))
  assert.equal(short?.socket.isPaused, false)
  assert.equal(short?.socket.closed, undefined)
  // The message before it ends behind its head.
  long?.socket.emit('message', Buffer.from('{"type":"other"}'))
  assert.equal(usedBy(memory), 8 * MB + 4)
})
