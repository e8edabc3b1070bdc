/** A refusal that is known early reaches a caller who is still sending. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../support/in-process.ts'

const PIECE = Buffer.alloc(64 * 1024)
const PIECES = 64
let gateway: TestGateway
before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

/** Sends the whole request before reading anything. */
async function sendAll(path: string, authorization: string): Promise<string> {
  const socket = connect(gateway.gateway.port, '127.0.0.1')
  await once(socket, 'connect')
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: gateway',
    `authorization: ${authorization}`,
    'content-type: multipart/form-data; boundary=edge',
    `content-length: ${PIECE.length * PIECES}`,
    '',
    '',
  ]
  socket.write(head.join('\r\n'))
  for (let piece = 0; piece < PIECES; piece += 1) {
    if (!socket.write(PIECE)) await once(socket, 'drain')
  }
  let text = ''
  for await (const chunk of socket) text += chunk
  return text
}

test('401 and 404, to the last byte', async () => {
  for (let round = 0; round < 10; round += 1) {
    const unknown = await sendAll('/v1/audio/translations', 'Bearer nobody')
    assert.match(unknown, /^HTTP\/1.1 401 .*\{"error":"invalid or missing API key".*\}$/s)
    const nowhere = await sendAll('/v1/nowhere', 'Bearer nobody')
    assert.match(nowhere, /^HTTP\/1.1 404 .*\}$/s)
  }
})
