/** The guard on real sockets: where it connects, what it refuses and how long it waits. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { Allowance } from '../../server/base/outbound/address.ts'
import { createGuard } from '../../server/base/outbound/guard.ts'
import type { Resolve } from '../../server/base/outbound/resolve.ts'
import { until } from '../support/until.ts'

async function listen(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

const serveHttp = (t: TestContext, listener: RequestListener) => listen(t, createServer(listener))

function guardOf(resolve: Resolve, allowance: Allowance = 'private') {
  return createGuard({ policy: () => ({ allowance, ports: new Set([80, 443]) }), resolve })
}
const nowhere: Resolve = async () => {
  throw new Error('no such name')
}

const post = (url: string, more: object = {}) => ({
  url,
  method: 'POST' as const,
  headers: { 'x-test': 'yes' },
  body: Buffer.from('{}'),
  budgetMs: 60_000,
  bodyMs: 60_000,
  bodyBytesMax: 65_536,
  ...more,
})

test('a name is resolved once, and its Host stays', async (t) => {
  let heard: string | undefined
  const port = await serveHttp(t, (request, response) => {
    heard = request.headers.host
    response.end('fine')
  })
  let asked = 0
  const guard = guardOf(async () => {
    asked += 1
    return ['127.0.0.1']
  })
  const url = `http://hook.example.com:${port}/a?b`
  const result = await guard.request(post(url))
  assert.equal(result.outcome, 'answered')
  assert.equal('body' in result && result.body.toString(), 'fine')
  assert.deepEqual([asked, heard], [1, `hook.example.com:${port}`])
})

test('one private answer among public ones refuses the name, at creation and at each send', async (t) => {
  let connections = 0
  const canary = createTcpServer(() => {
    connections += 1
  })
  const port = await listen(t, canary)
  const guard = guardOf(async () => ['93.184.215.14', '127.0.0.1'], 'public')
  assert.match((await guard.checkUrl('https://a.example.com/')) ?? '', /not public \(loopback\)/)
  const result = await guard.request(post('https://a.example.com/'))
  assert.equal(result.outcome, 'refused')
  const direct = await guard.request(post(`http://127.0.0.1:${port}/`))
  assert.equal(direct.outcome, 'refused')
  assert.equal(connections, 0)
})

test('a name that does not resolve is accepted at creation and fails when it is used', async () => {
  const guard = guardOf(nowhere, 'public')
  assert.equal(await guard.checkUrl('https://gone.example.com/'), undefined)
  assert.equal((await guard.request(post('https://gone.example.com/'))).outcome, 'unresolved')
})

test('a redirect is an answer', async (t) => {
  let seen = 0
  const port = await serveHttp(t, (_request, response) => {
    seen += 1
    response.writeHead(302, { location: '/elsewhere' }).end()
  })
  const result = await guardOf(nowhere).request(post(`http://127.0.0.1:${port}/`))
  assert.equal('status' in result && result.status, 302)
  assert.equal(seen, 1)
})

test('a receiver may say that the request continues, unasked', async (t) => {
  let requests = 0
  const port = await serveHttp(t, (request, response) => {
    requests += 1
    response.writeContinue()
    request.resume().on('end', () => response.end('fine'))
  })
  const result = await guardOf(nowhere).request(post(`http://127.0.0.1:${port}/`))
  assert.equal('status' in result && result.status, 200)
  assert.equal(requests, 1)
})

test('no head in time, refused, reset: each says so', async (t) => {
  const silent = await listen(t, createTcpServer())
  const resetting = await listen(
    t,
    createTcpServer((socket) => socket.on('data', () => socket.resetAndDestroy())),
  )
  const guard = guardOf(nowhere)
  const slow = await guard.request(post(`http://127.0.0.1:${silent}/`, { budgetMs: 100 }))
  assert.deepEqual(
    [slow.outcome, 'message' in slow && slow.message],
    ['timeout', 'no response within 0.1 seconds'],
  )
  const reset = await guard.request(post(`http://127.0.0.1:${resetting}/`))
  assert.equal('message' in reset && reset.message, 'the connection was reset')
  const refused = await guard.request(post('http://127.0.0.1:1/'))
  assert.equal('message' in refused && refused.message, 'the connection was refused')
})

test('a resolver that never answers costs the budget and no more', async () => {
  const guard = guardOf(() => new Promise(() => undefined))
  const result = await guard.request(post('http://slow.example.com/', { budgetMs: 100 }))
  assert.equal(result.outcome, 'timeout')
})

test('an endless body is cut by bytes, a dripping one by time, the status stays', async (t) => {
  let ended = 0
  const port = await serveHttp(t, (request, response) => {
    response.on('close', () => {
      ended += 1
    })
    response.writeHead(200)
    if (request.url === '/drip') return void response.write('x')
    const pour = () => {
      while (!response.destroyed && response.write('y'.repeat(65_536)));
    }
    response.on('drain', pour)
    pour()
  })
  const guard = guardOf(nowhere)
  const drip = await guard.request(post(`http://127.0.0.1:${port}/drip`, { bodyMs: 500 }))
  assert.ok(drip.outcome === 'answered' && drip.truncated && drip.body.toString() === 'x')
  const flood = await guard.request(post(`http://127.0.0.1:${port}/flood`, { bodyBytesMax: 100 }))
  assert.ok(flood.outcome === 'answered' && flood.truncated && flood.body.length === 100)
  await until('the end of both', () => ended === 2)
})

test('a stopped request says so', async (t) => {
  const stopping = new AbortController()
  const port = await listen(
    t,
    createTcpServer(() => stopping.abort()),
  )
  const { signal } = stopping
  const result = await guardOf(nowhere).request(post(`http://127.0.0.1:${port}/`, { signal }))
  assert.equal(result.outcome, 'stopped')
})
