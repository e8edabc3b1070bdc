/** A vendor that offers HTTP/2 is called over HTTP/1.1, where a response that breaks off fails. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { constants, createSecureServer, type Http2SecureServer } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { Dispatcher } from 'undici'
import { createDispatcher } from '../../../server/api/app/open-outbound.ts'
import { exchange } from '../../../server/work/pipeline/send/exchange.ts'

const TIMES = { firstByteTimeoutMs: 30_000, idleTimeoutMs: 30_000 }
let folder: string
let server: Http2SecureServer
let dispatcher: Dispatcher
const versions: string[] = []

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tributary-http-'))
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const kind = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2']
  const options = { cwd: folder, stdio: 'pipe' } as const
  execFileSync('openssl', ['req', ...kind, ...subject, '-keyout', 'key', '-out', 'cert'], options)
  const [key, cert] = ['key', 'cert'].map((name) => readFileSync(join(folder, name), 'utf8'))
  setDefaultCACertificates([...getCACertificates('default'), cert ?? ''])
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
  rmSync(folder, { recursive: true, force: true })
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
