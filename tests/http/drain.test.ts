/** Closing the listener resets no connection that the kernel has accepted already. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { openEntrance, watchDrain } from '../../server/base/http/drain.ts'
import { until } from '../support/until.ts'

const CALLS = 30
const LOOPBACK = { host: '127.0.0.1', port: 0 }

/** Connects many times and sends requests while the thread of the server waits. */
const CALLER = `
  const { connect } = require('node:net')
  const { parentPort, workerData } = require('node:worker_threads')
  for (let call = 0; call < workerData.calls; call += 1) {
    const socket = connect(workerData.port, '127.0.0.1', () => {
      socket.write('GET / HTTP/1.1\\r\\nhost: a\\r\\nconnection: close\\r\\n\\r\\n', () => {
        if (Atomics.add(workerData.sent, 0, 1) + 1 === workerData.calls) {
          Atomics.notify(workerData.sent, 0)
        }
      })
    })
    let answer = ''
    socket.on('data', (data) => { answer += data })
    socket.on('error', (error) => { answer += error.message })
    socket.on('close', () => parentPort.postMessage(answer))
  }
`

test('connections that wait to be accepted are served', async () => {
  const server = createServer((_request, response) => response.end('served'))
  const { port, close } = await openEntrance(server, LOOPBACK)
  const sent = new Int32Array(new SharedArrayBuffer(4))
  const caller = new Worker(CALLER, { eval: true, workerData: { port, sent, calls: CALLS } })
  const answers: string[] = []
  caller.on('message', (answer: string) => answers.push(answer))
  const ended = once(caller, 'exit')
  for (let count = 0; count < CALLS; count = Atomics.load(sent, 0)) {
    Atomics.wait(sent, 0, count, 1_000)
  }
  const closed = once(server, 'close')
  await close()
  await ended
  assert.equal(answers.length, CALLS)
  for (const answer of answers) assert.match(answer, /^HTTP\/1\.1 200 [\s\S]*served$/)
  await closed
})

/** Connects once it is told to, while the thread of the server waits, and sends a request. */
const LATE_CALLER = `
  const { connect } = require('node:net')
  const { parentPort, workerData: { port, steps } } = require('node:worker_threads')
  const reach = (step) => {
    Atomics.store(steps, 0, step)
    Atomics.notify(steps, 0)
  }
  reach(1)
  Atomics.wait(steps, 0, 1)
  const socket = connect(port, '127.0.0.1', () => {
    socket.write('GET / HTTP/1.1\\r\\nhost: a\\r\\nconnection: close\\r\\n\\r\\n', () => reach(3))
  })
  let answer = ''
  socket.on('data', (data) => { answer += data })
  socket.on('error', (error) => {
    answer += error.message
    // Nobody waits for what is not connected.
    reach(3)
  })
  socket.on('close', () => parentPort.postMessage(answer))
`

/** Makes turns of the event loop long without the work that would take as long. */
function openClock(t: TestContext): { work(milliseconds: number): void } {
  const { now } = performance
  let worked = 0
  t.mock.method(performance, 'now', () => now.call(performance) + worked)
  return {
    work: (milliseconds) => {
      worked += milliseconds
    },
  }
}

// The longer one is a machine that stalls, for longer than a process waits that is never idle.
for (const turnMs of [5, 5_000]) {
  test(`a connection that comes during ${turnMs} ms of work in the last turn is served`, async (t) => {
    const clock = openClock(t)
    const server = createServer((_request, response) => response.end('served'))
    const { port, close } = await openEntrance(server, LOOPBACK)
    const steps = new Int32Array(new SharedArrayBuffer(4))
    const caller = new Worker(LATE_CALLER, { eval: true, workerData: { port, steps } })
    const answered = once(caller, 'message')
    await until('the caller', () => Atomics.load(steps, 0) === 1)
    const work = () => {
      Atomics.store(steps, 0, 2)
      Atomics.notify(steps, 0)
      for (let step = 2; step < 3; step = Atomics.load(steps, 0)) {
        Atomics.wait(steps, 0, step, 1_000)
      }
      // The connection took no time at all: this turn is a long one all the same.
      clock.work(turnMs)
    }
    // In the second turn without a new connection, before the server decides.
    setImmediate(() => setImmediate(work))
    const closed = once(server, 'close')
    await close()
    const [answer] = await answered
    assert.match(answer, /^HTTP\/1\.1 200 [\s\S]*served$/)
    await closed
  })
}

test('a process that is never idle closes its listener all the same', async (t) => {
  const clock = openClock(t)
  const server = createServer()
  const { close } = await openEntrance(server, LOOPBACK)
  let isClosed = false
  const work = () => {
    // Every turn is a long one.
    clock.work(1)
    if (!isClosed) setImmediate(work)
  }
  work()
  await close()
  isClosed = true
  assert.equal(server.listening, false)
})

test('requests that were sent together are all answered before the connection ends', async () => {
  const waiting: ServerResponse[] = []
  const server = createServer((_request, response) => void waiting.push(response))
  const drain = watchDrain(server)
  const { port, close } = await openEntrance(server, LOOPBACK)
  const send = async (count: number) => {
    const socket = connect(port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(count))
    const known = waiting.length
    await until('the requests', () => waiting.length === known + count)
    return text(socket)
  }
  const early = send(2)
  await until('the early requests', () => waiting.length === 2)
  drain.closeAfterResponses()
  const late = send(3)
  await until('the late requests', () => waiting.length === 5)
  for (const response of waiting) response.end('served')
  for (const [answers, count] of [
    [await early, 2],
    [await late, 3],
  ] as const) {
    assert.equal(answers.match(/HTTP\/1\.1 200 OK/gm)?.length, count)
    assert.equal(answers.match(/^connection: close/gim)?.length, 1)
  }
  const closed = once(server, 'close')
  await close()
  await closed
})
