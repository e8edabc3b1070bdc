/** Interim responses are skipped, in any number and however their bytes arrive. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { Agent, buildConnector } from 'undici'
import { skipInterim } from '../../server/base/outbound/skip-interim.ts'
import { drip } from '../support/servers/drip.ts'

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n'
const BODY = 'HTTP/1.1 100 Continue\r\n\r\nis text here'
const FINAL = `HTTP/1.1 200 OK\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`
const LARGE = `HTTP/1.1 200 OK\r\ncontent-length: 90000\r\n\r\n${'x'.repeat(90_000)}`

let server: Server
let script: (socket: Socket) => unknown = () => undefined
let connections = 0
const agent = new Agent({
  connect: skipInterim(buildConnector({})),
  connections: 1,
  headersTimeout: 500,
})

before(async () => {
  server = createServer((socket) => {
    connections += 1
    socket.setNoDelay(true).on('error', () => undefined)
    socket.on('data', (data) => String(data).endsWith('end') && script(socket))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
after(async () => {
  await agent.destroy()
  server.close()
})

async function sendRequest() {
  const { port } = server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  const { statusCode, body } = await agent.request({
    origin,
    path: '/',
    method: 'POST',
    body: 'end',
  })
  return { statusCode, text: await body.text() }
}

for (const [name, bytes, text] of [
  ['none', FINAL, BODY],
  ['100', CONTINUE + FINAL, BODY],
  ['103', HINTS + FINAL, BODY],
  ['many', (CONTINUE + HINTS).repeat(50) + FINAL, BODY],
  ['100 before a large answer', CONTINUE + LARGE, 'x'.repeat(90_000)],
] as const) {
  test(`interim responses: ${name}`, async () => {
    script = (socket) => socket.write(bytes)
    const before = connections
    for (let round = 0; round < 3; round += 1) {
      assert.deepEqual(await sendRequest(), { statusCode: 200, text })
    }
    assert.ok(connections - before <= 1, 'the connection is kept')
  })
}

test('interim responses whose bytes arrive in two parts or one by one', async () => {
  const bytes = Buffer.from(HINTS + CONTINUE + FINAL)
  const send = async (socket: Socket, parts: readonly Buffer[]) => {
    for (const part of parts) await new Promise((sent) => socket.write(part, sent))
  }
  for (let at = 1; at < bytes.length; at += 1) {
    script = (socket) => send(socket, [bytes.subarray(0, at), bytes.subarray(at)])
    assert.deepEqual(await sendRequest(), { statusCode: 200, text: BODY }, `split at ${at}`)
  }
  script = (socket) =>
    send(
      socket,
      Array.from(bytes, (byte) => Buffer.of(byte)),
    )
  assert.deepEqual(await sendRequest(), { statusCode: 200, text: BODY })
})

for (const [name, bytes, problem] of [
  [
    'switching protocols',
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: a\r\n\r\n${FINAL}`,
    /upgrade/,
  ],
  ['no response', 'SSH-2.0', /HTTP/],
  ['a head without an end', `HTTP/1.1 100 Continue\r\n${'a: b\r\n'.repeat(4000)}`, /./],
] as const) {
  test(`an invalid interim response is passed to the client: ${name}`, async () => {
    script = (socket) => socket.write(bytes)
    await assert.rejects(sendRequest(), problem)
  })
}

test('interim responses without an end count towards the wait for the first byte', async () => {
  script = (socket) => {
    void drip(socket, 20, () => CONTINUE)
  }
  await assert.rejects(sendRequest(), { code: 'UND_ERR_HEADERS_TIMEOUT' })
})
