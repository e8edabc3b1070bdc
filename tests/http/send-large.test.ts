/** A large document that is not read waits in a file, and arrives whole once it is read. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { createContext } from '../../server/base/http/context.ts'
import { sendBytes } from '../../server/base/http/reply.ts'
import { testMemory } from '../support/memory.ts'
import { startServer } from '../support/servers/local-server.ts'
import { until } from '../support/until.ts'

const MB = 1024 ** 2
/** More than the system keeps of a connection. */
const DOCUMENT = randomBytes(24 * MB)
const ROUTE = { path: '/', pattern: '/', query: new URLSearchParams(), params: {} }

async function ask(memory = testMemory()) {
  const server = await startServer((request, response) => {
    const context = createContext(request, response, { ...ROUTE, envelope: 'flat' }, memory)
    request.on('end', () => sendBytes(context, 200, {}, DOCUMENT)).resume()
  })
  const socket = connect(server.port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  return { server, socket, memory }
}

const usedBy = ({ bytes, disk }: ReturnType<typeof testMemory>) => [
  bytes.usedInAll(),
  disk.usedInAll(),
]

for (const [name, memory] of [
  ['a slow reader', testMemory()],
  ['an account beyond its share', testMemory({ bytesMax: 10 * MB })],
] as const) {
  test(`for ${name} the rest is in a file, and nothing of it is lost`, async () => {
    const { server, socket } = await ask(memory)
    await until('the rest in a file', () => memory.disk.usedInAll() > 8 * MB)
    await until('nothing in memory', () => memory.bytes.usedInAll() === 0)
    const all = Buffer.concat(await socket.toArray())
    const start = all.indexOf('\r\n\r\n') + 4
    assert.ok(all.subarray(start).equals(DOCUMENT))
    await until('nothing kept', () => usedBy(memory).every((used) => used === 0))
    await server.stop()
  })
}

test('a reader that leaves, or for whom there is no room, leaves nothing behind', async () => {
  const left = await ask()
  await until('a file', () => left.memory.disk.usedInAll() > MB)
  left.socket.destroy()
  const refused = await ask(testMemory({ bytesMax: 10 * MB, diskBytesMax: MB }))
  refused.socket.resume()
  await once(refused.socket, 'close')
  for (const { memory, server } of [left, refused]) {
    await until('nothing kept', () => usedBy(memory).every((used) => used === 0))
    await server.stop()
  }
})

test('until it is in a file, a document counts even beyond its share', async () => {
  const memory = testMemory({ bytesMax: 10 * MB })
  const openFile = memory.openFile
  const opened = Promise.withResolvers<void>()
  const { server, socket } = await ask({
    ...memory,
    async openFile(account) {
      await opened.promise
      return openFile(account)
    },
  })
  await until('all in memory', () => memory.bytes.usedInAll() === DOCUMENT.length)
  opened.resolve()
  await until('nothing in memory', () => memory.bytes.usedInAll() === 0)
  socket.destroy()
  await until('nothing kept', () => usedBy(memory).every((used) => used === 0))
  await server.stop()
})
