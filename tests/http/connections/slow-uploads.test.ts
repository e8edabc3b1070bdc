import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { expectUpload } from '../../../server/base/http/connections/slow-uploads.ts'
import { createHttpServer } from '../../../server/base/http/server.ts'
import { drip } from '../../support/servers/drip.ts'
import { until } from '../../support/until.ts'

/** The measured span of a server that cuts off; an upload must average 16 KiB/s over it. */
const SPAN_MS = 2_000
/**
 * Where nothing is to be cut off: callers and server share this process, so that a span must
 * outlast whatever it has to wait for its machine.
 */
const LONG_SPAN_MS = 6_000
const PIECE_MS = 100
const ENOUGH = Math.ceil((16 * 1024 * LONG_SPAN_MS) / 1000)

const servers: Server[] = []
let port = 0
let patientPort = 0

before(async () => {
  port = await serve(SPAN_MS)
  patientPort = await serve(LONG_SPAN_MS)
})
after(() => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

/** Returns the port of a server with this time for a request. */
async function serve(requestTimeoutMs: number): Promise<number> {
  const limits = { headersTimeoutMs: 60_000, keepAliveTimeoutMs: 60_000, headerBytesMax: 16_384 }
  const more = { requestTimeoutMs, headersMax: 100, connectionsMax: 100 }
  const all = { ...limits, ...more, clientStallMs: 60_000 }
  const server = createHttpServer(all, (request, response) => {
    request.on('error', () => undefined)
    if (request.url === '/upload') expectUpload(request)
    if (request.url === '/begun') response.write('begun')
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    request.on('end', () => response.end(`took ${bytes}`))
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

/** Sends pieces at a pace, and returns what was received until the connection ended. */
async function trickle(path: string, pieces: number, bytes: number, everyMs: number, to = port) {
  const socket = connect(to, '127.0.0.1')
  let text = ''
  socket.on('data', (data) => {
    text += data.toString()
  })
  socket.on('error', () => undefined)
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n`
  socket.write(`${head}content-length: ${pieces * bytes}\r\n\r\n`)
  let sent = 0
  // A cut-off may also reset the connection, at which `once` would reject.
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  await drip(socket, everyMs, () => {
    if (sent === pieces) return undefined
    sent += 1
    return Buffer.alloc(bytes)
  })
  await ended
  return { text, sent }
}

describe('a request that arrives slowly', { concurrency: true }, () => {
  test('is cut off with 408 after its time', async () => {
    const { text, sent } = await trickle('/', 100, 1_000, 50)
    assert.match(text, /^HTTP\/1\.1 408 /)
    assert.match(text, /did not arrive in time/)
    assert.ok(sent < 100)
  })

  test('continues if it is an upload at a sufficient rate', async () => {
    const pieces = (1.25 * LONG_SPAN_MS) / PIECE_MS
    const { text } = await trickle('/upload', pieces, ENOUGH, PIECE_MS, patientPort)
    assert.match(text, /^HTTP\/1\.1 200 /)
    assert.match(text, new RegExp(`took ${pieces * ENOUGH}`))
  })

  test('is cut off if it is an upload whose rate drops too low', async () => {
    const { text, sent } = await trickle('/upload', 200, 10, 50)
    assert.match(text, /^HTTP\/1\.1 408 /)
    assert.ok(sent < 200)
  })

  test('is only cut off when its answer was begun', async () => {
    const { text } = await trickle('/begun', 100, 10, 50)
    assert.match(text, /^HTTP\/1\.1 200 /)
    assert.doesNotMatch(text, /408/)
  })

  test('requests without a body, and complete ones, are not affected', async () => {
    const socket = connect(port, '127.0.0.1')
    let answers = 0
    socket.on('data', (data) => {
      answers += data.toString().split('HTTP/1.1 200').length - 1
    })
    const ask = () => socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\nab')
    const waitForCutOff = () => trickle('/', 100, 1_000, 50)
    ask()
    await waitForCutOff()
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    await waitForCutOff()
    ask()
    await until('three answers, or an end', () => answers === 3 || socket.destroyed)
    assert.deepEqual([answers, socket.destroyed], [3, false])
    socket.destroy()
  })
})
