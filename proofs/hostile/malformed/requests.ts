/** Malformed requests as raw bytes: bad bodies under valid heads, and bad heads. */
import { gzipSync } from 'node:zlib'
import type { Random } from '../../../testbed/random.ts'
import { spoilBody, VALID } from './bodies.ts'

export interface HostileRequest {
  readonly name: string
  readonly bytes: Buffer
  /** True if the request breaks off: the client's side is closed after its bytes. */
  readonly halfClose: boolean
}

type Key = string

export function makeRequest(random: Random, key: Key): HostileRequest {
  const share = random.next()
  if (share < 0.6) return badBody(random, key)
  if (share < 0.75) return badTarget(random, key)
  return badHead(random, key)
}

function post(path: string, key: Key, body: Buffer, more: readonly string[] = []): Buffer {
  const lines = [
    `POST ${path} HTTP/1.1`,
    'host: gateway',
    `authorization: Bearer ${key}`,
    ...(more.some((line) => /^content-type/i.test(line)) ? [] : ['content-type: application/json']),
    ...(more.some((line) => /^(content-length|transfer-encoding)/i.test(line))
      ? []
      : [`content-length: ${body.length}`]),
    ...more,
  ]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body])
}

function badBody(random: Random, key: Key): HostileRequest {
  const { path, body, name } = spoilBody(random)
  return { name: `body: ${name}`, bytes: post(path, key, body), halfClose: false }
}

const BAD_QUERIES: readonly [string, ...string[]] = [
  'limit=0',
  'limit=-1',
  'limit=1e9',
  'limit=NaN',
  'limit=1&limit=2',
  'limit[]=1',
  'cursor=%00',
  'cursor=nonsense',
  "cursor=' or 1=1 --",
  `cursor=${'x'.repeat(5_000)}`,
  'from=yesterday',
  'from=9999999999999999',
  'from=2026-13-45T99:99:99Z',
  'to=-1',
  'from=%ff%fe',
  'model=%E0%A4%A',
  'key=%25%25%25',
  '__proto__=1',
  '%',
  '&&&===',
  `model=${'%41'.repeat(2_000)}`,
]

const BAD_PATHS: readonly [string, ...string[]] = [
  '/v1/usage/%00',
  '/v1/usage/..%2f..%2fetc%2fpasswd',
  '/v1/usage/%zz',
  '/v1/usage/%c0%af',
  `/v1/usage/${'a'.repeat(9_000)}`,
  "/v1/usage/'%20or%201=1",
  '/v1/models/%',
  '/v1/models/__proto__',
  '/v1/models/constructor',
  '/v1/models//',
  '/../../../etc/passwd',
  '/v1/./usage',
  '//v1/usage',
  '/v1/usage/\u00ff',
  '/v1/chat/completions/extra',
  '/v1/balance;x=1',
  '/v1/balance%20',
  'http://other.example/v1/balance',
  'other.example:443',
  '*',
  '/v1/balance#fragment',
  '/\\v1\\balance',
  `/v1/balance?${'a=1&'.repeat(3_000)}`,
  '',
]

const ODD_METHODS = [
  'GET',
  'HEAD',
  'PUT',
  'DELETE',
  'PATCH',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
] as const
const NO_METHODS = [
  'get',
  'GE\tT',
  'FOO',
  'CONNECT',
  'PRI',
  '\u0000',
  'A'.repeat(5_000),
  '',
] as const

function badTarget(random: Random, key: Key): HostileRequest {
  const head = (method: string, target: string) => ({
    halfClose: false,
    bytes: Buffer.from(
      `${method} ${target} HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${key}\r\n\r\n`,
      'latin1',
    ),
  })
  const share = random.next()
  if (share < 0.35)
    return { name: 'query', ...head('GET', `/v1/usage?${random.pick(BAD_QUERIES)}`) }
  if (share < 0.7) return { name: 'path', ...head('GET', random.pick(BAD_PATHS)) }
  const [path] = random.pick(VALID)
  if (share < 0.85) return { name: 'other method', ...head(random.pick(ODD_METHODS), path) }
  return { name: 'no method', ...head(random.pick(NO_METHODS), path) }
}

type HeadCase = (random: Random, key: Key, path: string, body: Buffer) => Buffer

const lines = (text: string, body: Buffer) => Buffer.concat([Buffer.from(text, 'latin1'), body])
const chunked = (path: string, key: Key, text: string) =>
  post(path, key, Buffer.from(text, 'latin1'), ['transfer-encoding: chunked'])

/** Requests with an invalid head or framing and a valid body. */
const HEADS: Readonly<Record<string, HeadCase>> = {
  'length and chunks': (_, key, path, body) =>
    post(path, key, lines(`${body.length.toString(16)}\r\n`, lines('', body)), [
      `content-length: ${body.length}`,
      'transfer-encoding: chunked',
    ]),
  'chunks, said twice': (_, key, path) =>
    post(path, key, Buffer.from('0\r\n\r\n'), ['transfer-encoding: chunked, chunked']),
  'unknown transfer': (_, key, path, body) => post(path, key, body, ['transfer-encoding: gzip']),
  'bad chunk size': (_, key, path) => chunked(path, key, 'zz\r\nabc\r\n0\r\n\r\n'),
  'endless chunk size': (_, key, path) => chunked(path, key, `${'f'.repeat(40)}\r\nabc`),
  'chunk extension': (_, key, path) => chunked(path, key, `5;${'x'.repeat(20_000)}\r\nhello\r\n`),
  'two lengths': (_, key, path, body) =>
    post(path, key, body, [`content-length: ${body.length}`, 'content-length: 1']),
  'bad length': (random, key, path, body) =>
    post(path, key, body, [`content-length: ${random.pick(['-1', 'x', '1e3', '0x10', '+5'])}`]),
  'endless length': (_, key, path, body) =>
    post(path, key, body, ['content-length: 99999999999999']),
  'bare line feeds': (_, key, path, body) =>
    lines(post(path, key, body).toString('latin1').replaceAll('\r\n', '\n'), Buffer.alloc(0)),
  'folded header': (_, key, path, body) => post(path, key, body, ['x-a: 1\r\n  folded']),
  'header without a colon': (_, key, path, body) => post(path, key, body, ['nonsense']),
  'NUL in a header': (_, key, path, body) => post(path, key, body, ['x-a: a\u0000b']),
  '100 kB header': (_, key, path, body) => post(path, key, body, [`x-a: ${'a'.repeat(100_000)}`]),
  '5,000 headers': (_, key, path, body) =>
    post(
      path,
      key,
      body,
      Array.from({ length: 5_000 }, (_, index) => `x-${index}: 1`),
    ),
  'space before a colon': (_, key, path, body) => post(path, key, body, ['x-a : 1']),
  'no host': (_, key, path, body) =>
    lines(
      post(path, key, body).toString('latin1').replace('host: gateway\r\n', ''),
      Buffer.alloc(0),
    ),
  'two hosts': (_, key, path, body) => post(path, key, body, ['host: other']),
  'other version': (random, key, path, body) => {
    const version = random.pick(['HTTP/0.9', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/9.9', 'HTTQ/1.1', ''])
    const text = post(path, key, body).toString('latin1').replace('HTTP/1.1', version)
    return lines(text, Buffer.alloc(0))
  },
  'other type': (random, key, path, body) => {
    const types = ['text/html', 'multipart/form-data', 'application/xml', 'image/png', '', ';;;']
    const [first = '', ...rest] = types
    return post(path, key, body, [`content-type: ${random.pick([first, ...rest])}`])
  },
  'odd character set': (_, key, path, body) =>
    post(path, key, body, ['content-type: application/json; charset=utf-7']),
  compressed: (random, key, path, body) =>
    post(path, key, gzipSync(body), [`content-encoding: ${random.pick(['gzip', 'br', 'x'])}`]),
  'bad key': (random, _, path, body) => {
    const keys = ['', 'x', 'tr-', `tr-${'0'.repeat(49)}`, 'tr-\u00ff', 'a b c', 'x'.repeat(9_000)]
    const [first = '', ...rest] = keys
    return post(path, random.pick([first, ...rest]), body)
  },
  'two keys': (_, key, path, body) => post(path, key, body, ['x-api-key: tr-another']),
  'other scheme': (_, key, path, body) =>
    lines(post(path, key, body).toString('latin1').replace('Bearer', 'Basic'), Buffer.alloc(0)),
  'bad idempotency key': (random, key, path, body) =>
    post(path, key, body, [`idempotency-key: ${random.pick(['', '\u00ff', 'x'.repeat(300)])}`]),
  upgrade: (_, key, path, body) =>
    post(path, key, body, ['connection: upgrade', 'upgrade: websocket']),
  expectation: (random, key, path, body) =>
    post(path, key, body, [`expect: ${random.pick(['100-continue', 'miracles'])}`]),
  'noise instead of a head': (random) => lines('\r\n\r\n', random.bytes(random.integer(10, 3_000))),
}
const HEAD_NAMES = Object.keys(HEADS)
/** The framing promises more bytes than are sent, so the client must close. */
const UNFINISHED = new Set([
  'length and chunks',
  'endless chunk size',
  'chunk extension',
  'endless length',
  'unknown transfer',
  'noise instead of a head',
  'other version',
  'bare line feeds',
])

function badHead(random: Random, key: Key): HostileRequest {
  const [path, body] = random.pick(VALID)
  const headName = HEAD_NAMES[random.integer(0, HEAD_NAMES.length - 1)] ?? 'compressed'
  const make = HEADS[headName]
  const whole = make ? make(random, key, path, Buffer.from(JSON.stringify(body))) : Buffer.alloc(0)
  const cut = random.next() < 0.15
  const bytes = cut ? whole.subarray(0, random.integer(1, whole.length - 1)) : whole
  const name = `head: ${headName}${cut ? ', broken off' : ''}`
  return { name, bytes, halfClose: cut || UNFINISHED.has(headName) }
}
