import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { Agent, type Dispatcher } from 'undici'
import { maskCredentials } from '../../server/pipeline/send/mask-credentials.ts'

const KEY = '5f0c1d52-b0de-4c1f-9d3e-0d6f'
const MASKED = '*'.repeat(KEY.length)

let server: Server
let dispatcher: Dispatcher
let origin = ''

/** A vendor that repeats the request's credentials twice, with a content length. */
before(async () => {
  server = createServer((request, response) => {
    const text = JSON.stringify([request.headers, request.headers])
    response.writeHead(request.url === '/good' ? 200 : 401, {
      'content-length': Buffer.byteLength(text),
    })
    response.end(text)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  dispatcher = new Agent().compose(maskCredentials)
})
after(async () => {
  await dispatcher.close()
  server.close()
})

const send = async (path: string, headers: Record<string, string>) => {
  const answer = await dispatcher.request({ origin, path, method: 'GET', headers })
  return answer.body.text()
}

for (const [name, value] of [
  ['authorization', `Bearer ${KEY}`],
  ['x-api-key', KEY],
  ['X-Api-Access-Key', KEY],
  ['proxy-authorization', `Basic ${KEY}`],
] as const) {
  test(`${name} is masked anywhere in the answer`, async () => {
    for (const path of ['/good', '/bad']) {
      const text = await send(path, { [name]: value, accept: 'text/plain' })
      assert.ok(!text.includes(KEY), text)
      assert.equal(text.split(MASKED).length, 3)
      assert.ok(text.includes('text/plain'))
    }
  })
}

test('headers without credentials and short values are not masked', async () => {
  const text = await send('/good', { 'x-note': KEY, 'x-api-key': 'content' })
  assert.ok(text.includes(KEY))
  assert.ok(!text.includes('*'.repeat(7)))
})
