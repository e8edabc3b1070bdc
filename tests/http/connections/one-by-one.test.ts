/** Requests that are sent before earlier ones are answered: none runs beside another. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, test } from 'node:test'
import { createHttpServer } from '../../../server/base/http/server.ts'
import { until } from '../../support/until.ts'

const LONG_MS = 600_000
const LIMITS = {
  headersTimeoutMs: LONG_MS,
  requestTimeoutMs: LONG_MS,
  keepAliveTimeoutMs: LONG_MS,
  headerBytesMax: 16_384,
  headersMax: 10,
  connectionsMax: 100,
  clientStallMs: LONG_MS,
}

let server: Server
let socket: Socket
/** Responses that have been handed out, the newest last. */
let begun: ServerResponse[] = []
let answers = ''

beforeEach(async () => {
  begun = []
  answers = ''
  server = createHttpServer(LIMITS, (_request, response) => begun.push(response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('data', (data) => {
    answers += data
  })
  socket.on('error', () => undefined)
})
afterEach(() => {
  socket.destroy()
  server.closeAllConnections()
  server.close()
})

const send = (count: number, more = '', body = '') => {
  const requests = Array.from({ length: count }, (_, at) => {
    return `POST /${at} HTTP/1.1\r\nhost: a\r\n${more}\r\n${body}`
  })
  socket.write(requests.join(''))
}

test('each begins when the one before it has its answer, with its own body', async () => {
  send(20, 'content-length: 5\r\n', 'hello')
  for (let at = 0; at < 20; at += 1) {
    await until('the next', () => begun.length === at + 1)
    const { req } = begun[at] as ServerResponse
    assert.equal(String(await req.toArray()), 'hello')
    begun[at]?.end(`<${req.url}>`)
    await until('its answer', () => answers.includes(`</${at}>`))
  }
  assert.equal(answers.match(/<\/\d+>/g)?.join(''), begun.map((_, at) => `</${at}>`).join(''))
})

test('more than 64 that wait end the connection, and none of them begins', async () => {
  send(66)
  await once(socket, 'close')
  assert.equal(begun.length, 1)
})

test('what waits is forgotten with its caller', async () => {
  send(5)
  await until('the first', () => begun.length === 1)
  socket.destroy()
  await until('its end', () => begun[0]?.destroyed)
  begun[0]?.end('late')
  assert.equal(begun.length, 1)
})

test('none begins behind an answer that ends the connection', async () => {
  send(5)
  await until('the first', () => begun.length === 1)
  begun[0]?.setHeader('connection', 'close')
  begun[0]?.end('the last')
  await once(socket, 'close')
  assert.match(answers, /the last$/)
  assert.equal(begun.length, 1)
})
