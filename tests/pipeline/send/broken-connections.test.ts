/** What arrived before a connection broke is read before its error: it may state the usage. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { finished } from 'node:stream/promises'
import { after, before, beforeEach, test } from 'node:test'
import { Agent } from 'undici'
import { Deadline } from '../../../server/work/pipeline/send/deadline.ts'
import { decodeBody } from '../../../server/work/pipeline/send/decode-body.ts'
import { exchange } from '../../../server/work/pipeline/send/exchange.ts'
import { type LocalServer, startServer } from '../../support/servers/local-server.ts'
import { until } from '../../support/until.ts'

const TIMES = {
  firstByteTimeoutMs: 30_000,
  idleTimeoutMs: 30_000,
  deadline: new Deadline(86_400_000),
}
const PARTS = ['one ', 'two ', 'three']
let server: LocalServer
let url = ''
/** Resolved when the vendor may close the connection. */
let leaving = Promise.withResolvers<void>()

before(async () => {
  // Some vendors close the connection behind the last event, without the end of the framing.
  server = await startServer(async (_request, response) => {
    for (const part of PARTS) await new Promise((resolve) => response.write(part, resolve))
    await leaving.promise
    response.socket?.end()
  })
  url = `${server.url}/`
})
after(() => server.stop())
beforeEach(() => {
  leaving = Promise.withResolvers()
})

test('a reader that has paused gets all that arrived', async () => {
  const dispatcher = new Agent()
  const broken = once(dispatcher, 'disconnect')
  const { body } = await exchange(dispatcher, { method: 'GET', url, headers: {} }, TIMES)
  let text = ''
  body.pause().on('data', (chunk) => {
    text += chunk
  })
  leaving.resolve()
  await broken
  const failed = assert.rejects(finished(body), { code: 'UND_ERR_SOCKET' })
  body.resume()
  await failed
  assert.equal(text, PARTS.join(''))
  await dispatcher.destroy()
})

test('a reader that waits for more than arrived gets the error', async () => {
  const dispatcher = new Agent()
  const { body } = await exchange(dispatcher, { method: 'GET', url, headers: {} }, TIMES)
  body.on('readable', () => body.read(100))
  leaving.resolve()
  await assert.rejects(finished(body), { code: 'UND_ERR_SOCKET' })
  await dispatcher.destroy()
})

test('an encoded answer may break before anybody reads it', async () => {
  const body = new PassThrough().on('error', () => undefined)
  const headers = { 'content-encoding': 'gzip' }
  const decoded = decodeBody({ status: 200, headers, body })
  body.destroy(new Error('reset'))
  await until('its end', () => decoded.body.destroyed)
  assert.equal(decoded.body.errored?.message, 'reset')
})

test('an answer that names more encodings than any server applies is not decoded', () => {
  const body = new PassThrough()
  for (const [count, isDecoded] of [
    [4, true],
    [5, false],
  ] as const) {
    const headers = { 'content-encoding': Array(count).fill('br').join() }
    assert.equal(decodeBody({ status: 200, headers, body }).body !== body, isDecoded)
  }
})
