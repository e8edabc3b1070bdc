import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { after, before, test } from 'node:test'
import { Agent } from 'undici'
import { openReadingWire } from '../../server/pipeline/send/wire.ts'
import { UpstreamFailure } from '../../server/upstreams/failure.ts'
import { readJsonAnswer } from '../../server/upstreams/read-json.ts'
import { drip } from '../support/drip.ts'

const DRIP_MS = 20
let server: Server
let url = ''

before(async () => {
  // Never silent for long, and never done.
  server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    void drip(response, DRIP_MS, () => ' ')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`
})
after(() => {
  server.closeAllConnections()
  server.close()
})

test('an endless answer is ended at the limit, with its connection', async () => {
  const dispatcher = new Agent()
  const times = { firstByteTimeoutMs: 10_000, idleTimeoutMs: 10_000, totalTimeoutMs: 500 }
  const wire = openReadingWire({ dispatcher, ...times, socketsMax: 1 })
  const [[, response]] = await Promise.all([
    once(server, 'request'),
    wire.send({ method: 'GET', url, headers: {} }).then((answer) =>
      assert.rejects(readJsonAnswer(answer), (error) => {
        return error instanceof UpstreamFailure && error.kind === 'unknown'
      }),
    ),
  ])
  if (!response.destroyed) await once(response, 'close')
  await dispatcher.destroy()
})
