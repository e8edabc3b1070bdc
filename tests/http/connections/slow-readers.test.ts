import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { createHttpServer } from '../../../server/base/http/server.ts'
import { until } from '../../support/until.ts'

const STALL_MS = 2_000
/** Where nothing is to be cut off: a machine that stalls must not look like a reader that does. */
const LONG_STALL_MS = 6_000
const READ_MS = 22
/** More than the system takes on both sides of a connection. */
const LARGE_BYTES = 64 * 1024 * 1024

/** One response for each path asked for, as the server has it. */
const responses = new Map<string, ServerResponse>()
const servers: Server[] = []
let port = 0
let patientPort = 0

before(async () => {
  port = await serve(STALL_MS)
  patientPort = await serve(LONG_STALL_MS)
})
after(() => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

/** Returns the port of a server that waits this long for its readers. */
async function serve(clientStallMs: number): Promise<number> {
  const limits = { headersTimeoutMs: 60_000, keepAliveTimeoutMs: 60_000, headerBytesMax: 16_384 }
  const more = { requestTimeoutMs: 60_000, headersMax: 100, connectionsMax: 100 }
  const server = createHttpServer({ ...limits, ...more, clientStallMs }, (request, response) => {
    const path = request.url ?? ''
    responses.set(path, response)
    if (path === '/late') return
    if (path === '/whole') response.end(Buffer.alloc(LARGE_BYTES))
    else Readable.from(pieces()).pipe(response)
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

function* pieces() {
  for (let sent = 0; sent < LARGE_BYTES; sent += 65_536) yield Buffer.alloc(65_536)
}

async function ask(path: string, to = port): Promise<Socket> {
  const socket = connect(to, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
  socket.pause()
  await until('the request', () => responses.has(path))
  return socket
}

/** Reads nothing of a response until the server closes it. */
async function stall(path: string): Promise<ServerResponse> {
  const socket = await ask(path)
  const response = responses.get(path)
  assert.ok(response)
  if (!response.closed) await once(response, 'close')
  socket.destroy()
  return response
}

describe('a response that is not read', { concurrency: true }, () => {
  for (const path of ['/stream', '/whole']) {
    test(`${path} is cut off`, async () => {
      const response = await stall(path)
      assert.equal(response.writableFinished, false)
    })
  }

  test('one that is read slowly arrives complete', async () => {
    const socket = await ask('/slowly', patientPort)
    let bytes = 0
    socket.on('data', (data) => {
      bytes += data.length
      socket.pause()
      // The whole takes longer than the limit, each piece does not.
      setTimeout(() => socket.resume(), bytes < LARGE_BYTES / 4 ? READ_MS : 0)
    })
    socket.resume()
    await once(socket, 'close')
    assert.ok(bytes > LARGE_BYTES)
  })

  test('a response in progress is waited for', async () => {
    const socket = await ask('/late')
    let text = ''
    socket.on('data', (data) => {
      text += data.toString()
    })
    const closed = once(socket, 'close')
    socket.resume()
    for (const path of ['/stalls', '/stalls-later']) await stall(path)
    responses.get('/late')?.end('late')
    await closed
    assert.match(text, /late$/)
  })
})
