/**
 * A malicious vendor, in its own process. The first part of the path names what it does;
 * what it sends is prepared, and paced so that its own work stays small. Writes its URL when ready.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'

const MB = 1024 ** 2
const JSON_HEAD = { 'content-type': 'application/json' }
const STREAM_HEAD = { 'content-type': 'text/event-stream' }

const choice = (content: string) => [
  { index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' },
]
const answer = (content: string, usage: object) =>
  Buffer.from(
    JSON.stringify({ id: 'x', object: 'chat.completion', choices: choice(content), usage }),
  )
const event = (content: string) => {
  const choices = [{ index: 0, delta: { content }, finish_reason: null }]
  return Buffer.from(`data: ${JSON.stringify({ id: 'x', choices })}\n\n`)
}
const USAGE = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 }
const ABSURD = { prompt_tokens: 9e15, completion_tokens: 1e300, total_tokens: -1 }

const SMALL_EVENT = event('word ')
const LINE_PIECE = Buffer.alloc(64 * 1024, 'x')
const BROKEN = Buffer.concat([gzipSync(answer('hello', USAGE)).subarray(0, 40), Buffer.alloc(40)])
/** Only the vendor creates these; others need only the names. */
const isVendor = process.argv.includes('--serve')
const large = (make: () => Buffer) => (isVendor ? make() : LINE_PIECE)
const LARGE_ANSWER = large(() => answer('x'.repeat(60 * MB), USAGE))
const LARGE_EVENT = large(() => event('x'.repeat(8 * MB)))
const BOMB = large(() => gzipSync(answer(' '.repeat(100 * MB), USAGE)))

/** Writes `next()` at a pace until the connection ends; a full socket skips a turn. */
function pace(response: ServerResponse, everyMs: number, next: () => Buffer): void {
  const timer = setInterval(() => {
    if (!response.writableNeedDrain) response.write(next())
  }, everyMs)
  response.on('close', () => clearInterval(timer))
}

type Lie = (response: ServerResponse) => void

const LIES: Readonly<Record<string, Lie>> = {
  never: () => undefined,
  'large-answer': (response) => void response.writeHead(200, JSON_HEAD).end(LARGE_ANSWER),
  endless: (response) => {
    response.writeHead(200, STREAM_HEAD)
    pace(response, 20, () => SMALL_EVENT)
  },
  'endless-line': (response) => {
    response.writeHead(200, STREAM_HEAD).write('data: ')
    pace(response, 20, () => LINE_PIECE)
  },
  'one-byte': (response) => {
    response.writeHead(200, STREAM_HEAD)
    let at = 0
    pace(response, 2, () => {
      at = (at + 1) % SMALL_EVENT.length
      return SMALL_EVENT.subarray(at, at + 1)
    })
  },
  'large-events': (response) => {
    response.writeHead(200, STREAM_HEAD)
    pace(response, 500, () => LARGE_EVENT)
  },
  'absurd-usage': (response) => void response.writeHead(200, JSON_HEAD).end(answer('x', ABSURD)),
  'broken-gzip': (response) =>
    void response.writeHead(200, { ...JSON_HEAD, 'content-encoding': 'gzip' }).end(BROKEN),
  'gzip-bomb': (response) =>
    void response.writeHead(200, { ...JSON_HEAD, 'content-encoding': 'gzip' }).end(BOMB),
}

export const LIE_NAMES: readonly string[] = Object.keys(LIES)

function serve(request: IncomingMessage, response: ServerResponse): void {
  response.on('error', () => undefined)
  const [, name = ''] = request.url?.split('/') ?? []
  request.resume().on('end', () => {
    const lie = LIES[name]
    if (lie) lie(response)
    else response.writeHead(404).end()
  })
}

if (isVendor) {
  const server = createServer(serve).listen(0, '127.0.0.1', () => {
    const address = server.address()
    const port = typeof address === 'object' && address ? address.port : 0
    console.log(`http://127.0.0.1:${port}`)
  })
}
