/** Closing the listener resets no connection that the kernel has accepted already. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { watchDrain } from '../../server/http/drain.ts'

/** Connects and sends a request while the thread of the server waits. */
const CALLER = `
  const { connect } = require('node:net')
  const { parentPort, workerData } = require('node:worker_threads')
  const socket = connect(workerData.port, '127.0.0.1', () => {
    socket.write('GET / HTTP/1.1\\r\\nhost: a\\r\\nconnection: close\\r\\n\\r\\n', () => {
      Atomics.store(workerData.sent, 0, 1)
      Atomics.notify(workerData.sent, 0)
    })
  })
  let answer = ''
  socket.on('data', (data) => { answer += data })
  socket.on('error', (error) => { answer += error.message })
  socket.on('close', () => parentPort.postMessage(answer))
`

test('a connection that waits to be accepted is served', async () => {
  const server = createServer((_request, response) => response.end('served'))
  const drain = watchDrain(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const sent = new Int32Array(new SharedArrayBuffer(4))
  const caller = new Worker(CALLER, { eval: true, workerData: { port, sent } })
  const answered = once(caller, 'message')
  assert.equal(Atomics.wait(sent, 0, 0), 'ok')
  const closed = once(server, 'close')
  await drain.stopListening()
  const [answer] = await answered
  assert.match(answer, /^HTTP\/1\.1 200 [\s\S]*served$/)
  await closed
})
