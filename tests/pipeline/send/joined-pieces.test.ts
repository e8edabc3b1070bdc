/** Pieces of a response that one read of the connection brings are passed on together. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { Agent } from 'undici'
import { Deadline } from '../../../server/work/pipeline/send/deadline.ts'
import { exchange } from '../../../server/work/pipeline/send/exchange.ts'
import { type LocalServer, startServer } from '../../support/servers/local-server.ts'
import { until } from '../../support/until.ts'

const TIMES = {
  firstByteTimeoutMs: 30_000,
  idleTimeoutMs: 30_000,
  deadline: new Deadline(86_400_000),
}
const KB = 1024
const SECRET = 'sk-a-long-secret'
let server: LocalServer
let dispatcher: Agent
let answer: (socket: Socket) => void = () => undefined

before(async () => {
  server = await startServer((request) => answer(request.socket))
})
after(() => server.stop())
beforeEach(() => {
  dispatcher = new Agent()
})
afterEach(() => dispatcher.destroy())

const HEAD = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
const END = '0\r\n\r\n'

/** Returns pieces in their framing, which one write sends together. */
function framed(...pieces: readonly (string | Buffer)[]): string {
  return pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('')
}

async function open(): Promise<Readable> {
  const headers = { authorization: `Bearer ${SECRET}` }
  const request = { method: 'GET', url: `${server.url}/`, headers } as const
  return (await exchange(dispatcher, request, TIMES)).body
}

function read(body: Readable): string[] {
  const chunks: string[] = []
  body.on('data', (chunk: Buffer) => chunks.push(chunk.toString()))
  return chunks
}

test('what arrives together is one chunk, and each of the last two pieces another', async () => {
  answer = (socket) => socket.write(HEAD + framed('one ', 'two ', 'three ', 'four') + END)
  const body = await open()
  const chunks = read(body)
  await finished(body)
  assert.deepEqual(chunks, ['one two ', 'three ', 'four'])
})

test('events that arrive together are one chunk: whoever reads them finds their ends', async () => {
  const head = HEAD.replace('\r\n', '\r\ncontent-type: Text/event-stream; charset=utf-8\r\n')
  answer = (socket) => socket.write(head + framed('data: 1\n\n', 'data: 2\n\n', ': 3\n\n') + END)
  const body = await open()
  const chunks = read(body)
  await finished(body)
  assert.deepEqual(chunks, ['data: 1\n\ndata: 2\n\n: 3\n\n'])
})

test('what arrives later waits for nothing', async () => {
  let vendor: Socket | undefined
  answer = (socket) => {
    vendor = socket
    socket.write(HEAD + framed('one ', 'two '))
  }
  const body = await open()
  const chunks = read(body)
  let count = 2
  for (const pieces of [['three '], ['four ', 'five ', 'six ', 'seven '], ['eight']]) {
    await until('the pieces before', () => (chunks.length >= count ? true : undefined))
    count += Math.min(3, pieces.length)
    vendor?.write(framed(...pieces))
  }
  vendor?.write(END)
  await finished(body)
  assert.deepEqual(chunks, ['one ', 'two ', 'three ', 'four five ', 'six ', 'seven ', 'eight'])
})

test('pieces of all sizes stay in order and are joined up to a limit', async () => {
  const sizes = [1, 2, 3, 300, 17 * KB, 5, 9 * KB, 9 * KB, 17, 15 * KB, 2, 3 * KB, 1, 1]
  const pieces = sizes.map((size, at) => Buffer.alloc(size, `${at} `))
  answer = (socket) => socket.write(HEAD + framed(...pieces) + END)
  const body = await open()
  const chunks = read(body)
  await finished(body)
  assert.equal(chunks.join(''), Buffer.concat(pieces).toString())
  const alone = String(pieces[4])
  for (const chunk of chunks) assert.ok(chunk === alone || chunk.length <= 16 * KB)
  assert.ok(chunks.length < pieces.length)
})

test('a cut between pieces: all that arrived is read before the error', async () => {
  answer = (socket) => socket.end(HEAD + framed('one ', 'two ', 'three'))
  const body = await open()
  const chunks = read(body)
  await assert.rejects(finished(body), { code: 'UND_ERR_SOCKET' })
  assert.equal(chunks.join(''), 'one two three')
})

test('broken framing behind pieces: all that arrived is read before the error', async () => {
  answer = (socket) => socket.write(`${HEAD}${framed('one ', 'two ', 'three')}no length`)
  const body = await open()
  const chunks = read(body)
  await assert.rejects(finished(body), { name: 'HTTPParserError' })
  assert.equal(chunks.join(''), 'one two three')
})

test('a reader that stops in the middle gets nothing more, and the connection closes', async () => {
  const broken = once(dispatcher, 'disconnect')
  let vendor: Socket | undefined
  answer = (socket) => {
    vendor = socket
    socket.write(HEAD + framed('one '))
  }
  const body = await open()
  const chunks = read(body)
  await until('the first piece', () => (chunks.length > 0 ? true : undefined))
  body.once('data', () => body.destroy())
  vendor?.write(framed('two ', 'three ', 'four ', 'five'))
  await assert.rejects(finished(body), { code: 'UND_ERR_ABORTED' })
  await broken
  assert.deepEqual(chunks, ['one ', 'two three '])
})

test('a reader that throws ends its exchange alone', async () => {
  let vendor: Socket | undefined
  answer = (socket) => {
    vendor = socket
    socket.write(HEAD + framed('one'))
  }
  const body = await open()
  let isFirst = true
  body.on('data', () => {
    if (!isFirst) throw new Error('unreadable')
    isFirst = false
  })
  await until('the first piece', () => (isFirst ? undefined : true))
  vendor?.write(framed('two ', 'three'))
  await assert.rejects(finished(body), { message: 'unreadable' })
})

test('a slow reader holds the vendor up, and gets every piece once', async () => {
  const pieces = Array.from({ length: 12 * KB }, (_, at) => String(at).padStart(KB, '.'))
  answer = (socket) => socket.write(HEAD + framed(...pieces) + END)
  const body = await open()
  let seen = 0
  await until('the vendor to be held up', () => {
    const before = seen
    seen = body.readableLength
    return seen >= 64 * KB && seen === before
  })
  assert.ok(body.readableLength <= 66 * KB, `${body.readableLength} bytes wait`)
  let text = ''
  for await (const chunk of body) text += chunk
  assert.ok(text === pieces.join(''))
})

test('a credential that is split between pieces of one read is masked', async () => {
  const pieces = ['before ', SECRET.slice(0, 5), SECRET.slice(5, 9), SECRET.slice(9), ' behind']
  answer = (socket) => socket.write(HEAD + framed(...pieces) + END)
  const body = await open()
  const chunks = read(body)
  await finished(body)
  assert.equal(chunks.join(''), `before ${'*'.repeat(SECRET.length)} behind`)
})
