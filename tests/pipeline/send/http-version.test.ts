/** A vendor that offers HTTP/2 is called over HTTP/1.1, where a response that breaks off fails. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { constants, createSecureServer, type Http2SecureServer } from 'node:http2'
import { after, before, test } from 'node:test'
import type { Dispatcher } from 'undici'
import { createDispatcher } from '../../../server/api/app/open-outbound.ts'
import { Deadline } from '../../../server/work/pipeline/send/deadline.ts'
import { exchange } from '../../../server/work/pipeline/send/exchange.ts'
import { makeTrustedCertificate } from '../../support/servers/trusted-certificate.ts'

const TIMES = {
  firstByteTimeoutMs: 30_000,
  idleTimeoutMs: 30_000,
  deadline: new Deadline(86_400_000),
}
let certificate: ReturnType<typeof makeTrustedCertificate>
let server: Http2SecureServer
let dispatcher: Dispatcher
const versions: string[] = []

before(async () => {
  certificate = makeTrustedCertificate()
  const { key, cert } = certificate
  server = createSecureServer({ key, cert, allowHTTP1: true }, (request, response) => {
    versions.push(request.httpVersion)
    request.resume()
    response.writeHead(200, { 'content-type': 'audio/mpeg' })
    response.write('the first half')
  })
  server.listen(0)
  await once(server, 'listening')
  dispatcher = createDispatcher({ upstream: { connectTimeoutMs: 30_000, connectionsMax: 1 } })
})
after(async () => {
  await dispatcher.destroy()
  server.close()
  certificate.remove()
})

test('a response that a vendor cancels midway is not complete', async () => {
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const called = once(server, 'request')
  const request = { method: 'POST', url: `https://localhost:${port}/`, headers: {} } as const
  const { body } = await exchange(dispatcher, { ...request, body: Buffer.from('{}') }, TIMES)
  const [, response] = await called
  await once(body, 'readable')
  if (response.stream?.close) response.stream.close(constants.NGHTTP2_CANCEL)
  else response.destroy()
  await assert.rejects(async () => {
    for await (const chunk of body) assert.equal(String(chunk), 'the first half')
  })
  assert.deepEqual(versions, ['1.1'])
})
