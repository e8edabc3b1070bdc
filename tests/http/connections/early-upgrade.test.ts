/** Upgrades to a WebSocket while their connection is needed for something else: anybody may ask. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { test } from 'node:test'
import { createSockets } from '../../../server/api/endpoints/sockets.ts'
import { createHttpServer } from '../../../server/base/http/server.ts'
import { until } from '../../support/until.ts'

const LIMITS = {
  headersTimeoutMs: 60_000,
  requestTimeoutMs: 60_000,
  keepAliveTimeoutMs: 60_000,
  headerBytesMax: 16_384,
  headersMax: 10,
  connectionsMax: 100,
  clientStallMs: 60_000,
}
const HEADERS =
  'host: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n' +
  'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n'
const UPGRADE = `GET /socket HTTP/1.1\r\n${HEADERS}\r\n`
const FIRST = 'GET /first HTTP/1.1\r\nhost: a\r\n'
const CASES = {
  'behind a request that is being answered': [`${FIRST}\r\n${UPGRADE}`, 200, 2],
  'behind an expectation that nobody meets': [`${FIRST}expect: cake\r\n\r\n${UPGRADE}`, 417, 2],
  'whose body has not arrived': [
    `GET /socket HTTP/1.1\r\n${HEADERS}content-length: 9\r\n\r\nhalf`,
    200,
    1,
  ],
  'whose chunked body has not arrived': [
    `GET /socket HTTP/1.1\r\n${HEADERS}transfer-encoding: chunked\r\n\r\n5\r\nha`,
    200,
    1,
  ],
} as const

for (const [name, [sent, status, count]] of Object.entries(CASES)) {
  test(`an upgrade ${name} is served as it is`, async (t) => {
    const server = createHttpServer(LIMITS, ({ url }, response) => {
      setImmediate(() => response.end(`answer to ${url}`))
    })
    createSockets().serve(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    t.after(() => {
      socket.destroy()
      server.close()
    })
    let answers = ''
    socket.on('data', (data) => {
      answers += data
    })
    socket.write(sent)
    await until('the answers', () => answers.includes('answer to /socket'))
    assert.match(answers, new RegExp(`^HTTP/1.1 ${status} `))
    assert.equal(answers.match(/HTTP\/1\.1 \d/g)?.length, count)
  })
}
