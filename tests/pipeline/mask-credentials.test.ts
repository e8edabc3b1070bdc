import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { Agent } from 'undici'
import { Deadline } from '../../server/work/pipeline/send/deadline.ts'
import { openReadingWire } from '../../server/work/pipeline/send/wire.ts'
import { type LocalServer, startServer } from '../support/servers/local-server.ts'

const KEY = '5f0c1d52-b0de-4c1f-9d3e-0d6f'
const MASKED = '*'.repeat(KEY.length)

let server: LocalServer
const dispatcher = new Agent()
let origin = ''

/** A vendor that repeats the request's credentials twice, with a content length. */
before(async () => {
  server = await startServer((request, response) => {
    const body = JSON.stringify([request.headers, request.headers])
    response.writeHead(request.url === '/good' ? 200 : 401, {
      'content-length': Buffer.byteLength(body),
    })
    response.end(body)
  })
  origin = server.url
})
after(async () => {
  await dispatcher.close()
  await server.stop()
})

const send = async (path: string, headers: Record<string, string>) => {
  const times = {
    firstByteTimeoutMs: 10_000,
    idleTimeoutMs: 10_000,
    deadline: new Deadline(60_000),
  }
  const wire = openReadingWire({ dispatcher, ...times, connectTimeoutMs: 10_000, socketsMax: 1 })
  const answer = await wire.send({ method: 'GET', url: origin + path, headers })
  return text(answer.body)
}

for (const [name, value] of [
  ['authorization', `Bearer ${KEY}`],
  ['x-api-key', KEY],
  ['X-Api-Access-Key', KEY],
  ['proxy-authorization', `Basic ${KEY}`],
] as const) {
  test(`${name} is masked anywhere in the answer`, async () => {
    for (const path of ['/good', '/bad']) {
      const answer = await send(path, { [name]: value, accept: 'text/plain' })
      assert.ok(!answer.includes(KEY), answer)
      assert.equal(answer.split(MASKED).length, 3)
      assert.ok(answer.includes('text/plain'))
    }
  })
}

test('headers without credentials and short values are not masked', async () => {
  const answer = await send('/good', { 'x-note': KEY, 'x-api-key': 'content' })
  assert.ok(answer.includes(KEY))
  assert.ok(!answer.includes('*'.repeat(7)))
})
