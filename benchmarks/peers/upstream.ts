/**
 * The upstream of the benchmarks, as cheap as possible in Node: prepared bytes over plain sockets,
 * a 1 KB chat completion or a stream of 100 chunks, each written separately, and answers of 100 KB
 * to requests of more than that. `node benchmarks/peers/upstream.ts PORT [HOLD_MS]`: with HOLD_MS a
 * stream pauses for that long after its first chunk. `GET /count` answers how many calls it bills.
 */
import { createServer, type Socket } from 'node:net'

const CHUNKS = 100
const COUNT = Buffer.from('GET /count ')
const LARGE_BYTES = 100 * 1024
const port = Number(process.argv[2])
const holdMs = Number(process.argv[3] ?? 0)

const USAGE = { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 }
let billed = 0
const IDENTITY = { id: 'chatcmpl-benchmark', created: 1_700_000_000, model: 'sim-chat' }

function prepareWhole(sentences: number): Buffer {
  const content = 'All work and no play makes Jack a dull boy. '.repeat(sentences)
  const message = { role: 'assistant', content, refusal: null }
  const body = JSON.stringify({
    ...IDENTITY,
    object: 'chat.completion',
    usage: USAGE,
    choices: [{ index: 0, message, finish_reason: 'stop' }],
  })
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json'
  return Buffer.from(`${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
}

function chunk(value: object): Buffer {
  const event = JSON.stringify({ ...IDENTITY, object: 'chat.completion.chunk', ...value })
  return frame(`data: ${event}\n\n`)
}

function frame(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`)
}

const STREAM_HEAD = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n',
)
const delta = (content: object, reason: string | null = null) =>
  chunk({ choices: [{ index: 0, delta: content, finish_reason: reason }] })
const streamOf = (content: string): readonly Buffer[] => [
  Buffer.concat([STREAM_HEAD, delta({ role: 'assistant', content: '' })]),
  ...Array.from({ length: CHUNKS - 3 }, () => delta({ content })),
  delta({}, 'stop'),
  Buffer.concat([chunk({ choices: [], usage: USAGE }), frame('data: [DONE]\n\n')]),
  Buffer.from('0\r\n\r\n'),
]
const SMALL = { whole: prepareWhole(17), stream: streamOf('word and ') }
const LARGE = { whole: prepareWhole(2_300), stream: streamOf('word and '.repeat(100)) }

const server = createServer({ noDelay: true }, (socket) => {
  let pending: Buffer = Buffer.alloc(0)
  socket.on('data', (data: Buffer) => {
    pending = pending.length === 0 ? data : Buffer.concat([pending, data])
    for (let size = sizeOfRequest(pending); size > 0; size = sizeOfRequest(pending)) {
      const request = pending.subarray(0, size)
      pending = pending.subarray(size)
      if (request.subarray(0, COUNT.length).equals(COUNT)) {
        socket.write(tellCount())
        continue
      }
      billed += 1
      const answers = size > LARGE_BYTES ? LARGE : SMALL
      if (request.includes('"stream":true')) stream(socket, answers.stream, 0)
      else socket.write(answers.whole)
    }
  })
  socket.on('error', () => undefined)
})

function tellCount(): string {
  const body = String(billed)
  return `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

/** Returns the length of the first complete request in bytes, or 0. */
function sizeOfRequest(pending: Buffer): number {
  const end = pending.indexOf('\r\n\r\n')
  if (end < 0) return 0
  const length = /content-length: *(\d+)/i.exec(pending.toString('latin1', 0, end))?.[1]
  const size = end + 4 + Number(length ?? 0)
  return pending.length >= size ? size : 0
}

function stream(socket: Socket, chunks: readonly Buffer[], index: number): void {
  const bytes = chunks[index]
  if (!bytes || socket.destroyed) return
  socket.write(bytes)
  if (holdMs > 0 && index === 0) setTimeout(() => stream(socket, chunks, 1), holdMs)
  else setImmediate(stream, socket, chunks, index + 1)
}

server.listen({ port, host: '127.0.0.1', backlog: 16_384 }, () => console.log('ready'))
