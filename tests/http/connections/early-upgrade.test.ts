/** Upgrades to a WebSocket behind requests that are not answered: any caller may send one. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
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
const UPGRADE =
  'GET /socket HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n' +
  'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n'
const EARLIER = {
  'a request that is being answered': { headers: '', status: 200 },
  'one with an expectation that nobody meets': { headers: 'expect: a-cake\r\n', status: 417 },
}

for (const [name, { headers, status }] of Object.entries(EARLIER)) {
  test(`an upgrade behind ${name} is served as it is`, async (t) => {
    const waiting: ServerResponse[] = []
    const server = createHttpServer(LIMITS, (_request, response) => waiting.push(response))
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
    socket.write(`GET /first HTTP/1.1\r\nhost: a\r\n${headers}\r\n${UPGRADE}`)
    await until('the upgrade', () => waiting.some(({ req }) => req.url === '/socket'))
    for (const response of waiting) response.end(`answer to ${response.req.url}`)
    await until('both answers', () => answers.includes('answer to /socket'))
    assert.match(answers, new RegExp(`^HTTP/1.1 ${status} `))
    assert.equal(answers.match(/HTTP\/1\.1 \d/g)?.length, 2)
  })
}
