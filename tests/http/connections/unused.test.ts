/** Connections without a request make room for those that have one. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, test } from 'node:test'
import { createHttpServer } from '../../../server/base/http/server.ts'
import { until } from '../../support/until.ts'

const CONNECTIONS_MAX = 64
const LONG_MS = 600_000
const SILENT_MAX = CONNECTIONS_MAX / 4

let server: Server
let port = 0
const waiting: ServerResponse[] = []

async function serve(headersTimeoutMs: number): Promise<void> {
  const limits = { headersTimeoutMs, keepAliveTimeoutMs: LONG_MS, headerBytesMax: 16_384 }
  const more = { requestTimeoutMs: LONG_MS, headersMax: 100, connectionsMax: CONNECTIONS_MAX }
  server = createHttpServer({ ...limits, ...more, clientStallMs: LONG_MS }, (request, response) => {
    if (request.url === '/wait') waiting.push(response)
    else response.end('yes')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  port = typeof address === 'object' && address ? address.port : 0
}

beforeEach(() => serve(LONG_MS))
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

interface Caller {
  readonly socket: Socket
  text: string
}

/** Connects, and sends what there is to send. It leaves the closing to the server. */
async function open(sent = ''): Promise<Caller> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const caller = { socket, text: '' }
  socket.on('error', () => undefined)
  socket.on('data', (data) => {
    caller.text += data
  })
  await once(socket, 'connect')
  if (sent) socket.write(sent)
  return caller
}

async function openMany(count: number, sent?: string): Promise<Caller[]> {
  const callers: Caller[] = []
  for (let one = 0; one < count; one += 1) callers.push(await open(sent))
  return callers
}

async function ask(path: string): Promise<Caller> {
  const caller = await open(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
  if (path !== '/wait') await until('the answer', () => caller.text.includes('yes'))
  return caller
}

function isEnded({ socket }: Caller): boolean {
  return socket.destroyed || socket.readableEnded
}

function countOpen(): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
  })
}

function closeAll(callers: readonly Caller[]): void {
  for (const { socket } of callers) socket.destroy()
}

test('the oldest of too many connections that send nothing are closed, and no others', async () => {
  const running = await ask('/wait')
  await until('the request', () => waiting.length === 1)
  const answered = await ask('/')
  const silent = await openMany(SILENT_MAX)
  const half = await openMany(SILENT_MAX, 'GET / HTTP/1.1\r\nhost: ')
  const honest = await ask('/')
  await until('room', () => silent.filter(isEnded).length >= SILENT_MAX / 2)
  assert.equal(isEnded(honest), false)
  assert.equal(isEnded(answered), false)
  waiting.pop()?.end('yes, later')
  await until('its answer', () => running.text.includes('later'))
  closeAll([running, answered, honest, ...silent, ...half])
})

test('with all connections in use, the oldest that were answered make room', async () => {
  const running = await ask('/wait')
  await until('the request', () => waiting.length === 1)
  const answered: Caller[] = []
  for (let one = 0; one < CONNECTIONS_MAX + 5; one += 1) answered.push(await ask('/'))
  await until('room', () => answered.filter(isEnded).length >= 5)
  assert.deepEqual(answered.slice(-20).filter(isEnded), [])
  waiting.pop()?.end('yes, later')
  await until('its answer', () => running.text.includes('later'))
  closeAll([running, ...answered])
})

test('a caller that sends nothing and never closes is gone after its time', async () => {
  server.close()
  await serve(500)
  const callers = [...(await openMany(3)), ...(await openMany(3, 'GET / HTT'))]
  await until('the end of all connections', async () => (await countOpen()) === 0)
  for (const { text } of callers) assert.match(text, /^HTTP\/1.1 408 /)
  closeAll(callers)
})
