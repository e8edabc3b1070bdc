/** Downloads through the guard: streamed, with few redirects, and never to a forbidden address. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTcpServer, type Server } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import type { Allowance } from '../../server/base/outbound/address.ts'
import type { Download } from '../../server/base/outbound/download.ts'
import { createGuard } from '../../server/base/outbound/guard.ts'
import { REFUSED_HOSTS, REFUSED_URLS } from './url-forms.ts'

async function listen(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

async function nowhere(): Promise<never> {
  throw new Error('no such name')
}

const guardOf = (allowance: Allowance) =>
  createGuard({ policy: () => ({ allowance, ports: new Set([80, 443]) }), resolve: nowhere })

const get = (url: string, more: object = {}) => ({
  url,
  headMs: 60_000,
  idleMs: 60_000,
  signal: new AbortController().signal,
  ...more,
})

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  const port = await listen(t, server)
  t.after(() => server.closeAllConnections())
  return `http://127.0.0.1:${port}`
}

function answered(download: Download) {
  assert.equal(download.outcome, 'answered', JSON.stringify(download))
  if (download.outcome !== 'answered') throw new Error('unreachable')
  return download
}

test('a body is streamed, without compression, and ends with its sender', async (t) => {
  let encodings: string | undefined
  const url = await serve(t, (request, response) => {
    encodings = String(request.headers['accept-encoding'])
    response.writeHead(200, { 'content-length': 5 }).end('video')
  })
  const download = answered(await guardOf('loopback').download(get(`${url}/a?b=c`)))
  assert.deepEqual([download.status, download.length], [200, 5])
  assert.equal((await buffer(download.body)).toString(), 'video')
  assert.equal(encodings, 'identity')
  await download.close()
})

test('silence, a stop and a broken body are failures of the stream; the head has a budget', async (t) => {
  let breakOff: (() => void) | undefined
  const url = await serve(t, (request, response) => {
    if (request.url === '/never') return
    response.writeHead(200, { 'content-length': 100 }).write('some')
    breakOff = () => response.destroy()
  })
  const guard = guardOf('loopback')
  for (const path of ['/silent', '/breaks']) {
    const download = answered(await guard.download(get(url + path, { idleMs: 300 })))
    const reading = buffer(download.body)
    if (path === '/breaks') breakOff?.()
    await assert.rejects(reading, path)
    await download.close()
  }
  const late = await guard.download(get(`${url}/never`, { headMs: 100 }))
  assert.deepEqual(late, { outcome: 'timeout', message: 'no response within 0.1 seconds' })
  const stopping = new AbortController()
  const { signal } = stopping
  const cut = answered(await guard.download(get(`${url}/silent`, { signal })))
  const reading = buffer(cut.body)
  stopping.abort()
  await assert.rejects(reading)
  await cut.close()
})

test('no redirect leads to where a URL may not lead', async (t) => {
  let connections = 0
  const canary = await listen(
    t,
    createTcpServer((socket) => {
      connections += 1
      socket.destroy()
    }),
  )
  let location = ''
  const url = await serve(t, (_request, response) => {
    // Raw bytes: a header of Node's own would refuse some of them.
    const head = `HTTP/1.1 302 Found\r\nlocation: ${location}\r\nconnection: close\r\n\r\n`
    response.socket?.end(Buffer.from(head, 'utf8'))
  })
  const guard = guardOf('loopback')
  const forms = [...REFUSED_HOSTS.map((host) => `http://${host}:${canary}/`), ...REFUSED_URLS]
  const refused = forms.filter((form) => guard.readUrl(form) !== undefined)
  assert.ok(refused.length > 80, `${refused.length} forms`)
  for (const form of refused) {
    location = form
    const { outcome } = await guard.download(get(url))
    assert.notEqual(outcome, 'answered', form)
  }
  assert.equal(connections, 0)
})

test('every form is refused at once where only the public internet is allowed', async () => {
  const guard = guardOf('public')
  for (const host of REFUSED_HOSTS) {
    assert.equal((await guard.download(get(`http://${host}/`))).outcome, 'refused', host)
  }
})
