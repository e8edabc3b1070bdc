import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { Agent } from 'undici'
import { UpstreamFailure } from '../../server/wire/upstreams/failure.ts'
import { readJsonAnswer } from '../../server/wire/upstreams/read-json.ts'
import { openReadingWire } from '../../server/work/pipeline/send/wire.ts'
import { drip } from '../support/servers/drip.ts'
import { type LocalServer, startServer } from '../support/servers/local-server.ts'

const DRIP_MS = 20
let server: LocalServer
let url = ''

before(async () => {
  // Never silent for long, and never done.
  server = await startServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    void drip(response, DRIP_MS, () => ' ')
  })
  url = `${server.url}/`
})
after(() => server.stop())

test('an endless answer is ended at the limit, with its connection', async () => {
  const dispatcher = new Agent()
  const times = { firstByteTimeoutMs: 10_000, idleTimeoutMs: 10_000, totalTimeoutMs: 500 }
  const wire = openReadingWire({ dispatcher, ...times, socketsMax: 1 })
  const [[, response]] = await Promise.all([
    once(server.server, 'request'),
    wire.send({ method: 'GET', url, headers: {} }).then((answer) =>
      assert.rejects(readJsonAnswer(answer), (error) => {
        return error instanceof UpstreamFailure && error.kind === 'unknown'
      }),
    ),
  ])
  if (!response.destroyed) await once(response, 'close')
  await dispatcher.destroy()
})
