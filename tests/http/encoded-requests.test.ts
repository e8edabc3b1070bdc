/** Requests with a Content-Encoding cost what they decode to, and decode to no more than fits. */
import assert from 'node:assert/strict'
import { type IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import fc from 'fast-check'
import { type Context, createContext } from '../../server/base/http/context.ts'
import { decodeGathered, readContent } from '../../server/base/http/decode-content.ts'
import { GatewayError } from '../../server/base/lib/errors.ts'
import type { Gathering } from '../../server/base/lib/memory/gathering.ts'
import { readInPieces } from '../../server/base/lib/memory/spill-file.ts'
import { startTestGateway, type Tenant, type TestGateway } from '../support/in-process.ts'
import { testMemory } from '../support/memory.ts'
import { makeWav } from '../support/wav.ts'

const ENCODERS: readonly (readonly [name: string, encode: (data: Buffer) => Buffer])[] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
  ['ZSTD', zstdCompressSync],
]
const MB = 1024 * 1024

/** A request whose body comes in these pieces. */
function arrive(encoding: string, pieces: readonly Buffer[]): Context {
  return arriveAs(Readable.from(pieces, { objectMode: false }), encoding)
}

function arriveAs(message: Readable, encoding: string): Context {
  const headers = { 'content-encoding': encoding }
  const request = Object.assign(message, { headers, complete: true }) as unknown as IncomingMessage
  const route = { path: '/', pattern: '/', query: new URLSearchParams(), params: {} }
  return createContext(
    request,
    new ServerResponse(request),
    { ...route, envelope: 'flat' },
    testMemory(),
  )
}

/** The bytes that come out, and the error that ends them. */
async function decode(encoding: string, pieces: readonly Buffer[], bytesMax: number) {
  const out: Buffer[] = []
  try {
    await readContent(arrive(encoding, pieces), bytesMax, async (content) => {
      for await (const chunk of content) out.push(chunk)
    })
    return { out: Buffer.concat(out), error: undefined }
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error))
    return { out: Buffer.concat(out), error }
  }
}

function cut(data: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map((place) => place % (data.length + 1)), data.length].sort(
    (one, other) => one - other,
  )
  return ends.map((end, at) => data.subarray(ends[at - 1] ?? 0, end)).filter(({ length }) => length)
}

const data = fc.oneof(
  fc.uint8Array({ maxLength: 3_000 }).map((bytes) => Buffer.from(bytes)),
  fc.tuple(fc.string({ minLength: 1 }), fc.nat(5_000)).map(([text, times]) => {
    return Buffer.from(text.repeat(times))
  }),
)

describe('a decoded body', () => {
  for (const [name, encode] of ENCODERS) {
    test(`of ${name} is what was encoded, or 413 before more than the limit came out`, async () => {
      await fc.assert(
        fc.asyncProperty(data, fc.array(fc.nat()), fc.nat(10_000), async (plain, places, most) => {
          const { out, error } = await decode(name, cut(encode(plain), places), most)
          assert.ok(out.length <= most)
          if (plain.length <= most) assert.ok(!error && out.equals(plain))
          else assert.equal(error?.status, 413)
        }),
        { numRuns: 60 },
      )
    })

    test(`of ${name} that is damaged or cut off is refused, never the gateway’s own fault`, async () => {
      await fc.assert(
        fc.asyncProperty(
          data,
          fc.nat(),
          fc.integer({ min: 1, max: 255 }),
          async (plain, at, by) => {
            const encoded = encode(plain)
            const short = await decode(name, [encoded.subarray(0, at % encoded.length)], MB)
            assert.ok(at % encoded.length === 0 || short.error?.status === 400)
            const damaged = Buffer.from(encoded)
            const place = at % damaged.length
            damaged[place] = (damaged[place] ?? 0) ^ by
            const { error } = await decode(name, [damaged], MB)
            assert.ok(!error || error.status === 400 || error.status === 413)
          },
        ),
        { numRuns: 60 },
      )
    })

    test(`of ${name} with more behind its end is refused, however it comes`, async () => {
      const encoded = encode(Buffer.from('some text'))
      for (const pieces of [
        [Buffer.concat([encoded, Buffer.from('{}')])],
        [encoded, Buffer.from('{}')],
        [...cut(encoded, [1, 5]), Buffer.alloc(70_000), Buffer.alloc(1)],
      ]) {
        assert.equal((await decode(name, pieces, MB)).error?.status, 400)
      }
    })
  }

  test('whose connection closes before all was read fails', async () => {
    const message = new Readable({ read: () => undefined })
    message.push(gzipSync(Buffer.from('some text')).subarray(0, 12))
    const reading = readContent(arriveAs(message, 'gzip'), MB, (content) => content.toArray())
    await new Promise((resolve) => message.once('data', resolve))
    message.destroy()
    await assert.rejects(reading, { status: 400 })
  })

  test('that is refused before it is read is discarded, whatever it holds', async () => {
    for (const [end, content] of [
      ['end', 'not encoded at all'],
      ['close', ''],
    ] as const) {
      const message = new Readable({ read: () => undefined })
      let refused: Readable | undefined
      const reading = readContent(arriveAs(message, 'gzip'), MB, async (decoded) => {
        refused = decoded
        throw new GatewayError('unsupported_media')
      })
      await assert.rejects(reading, { status: 415 })
      const ended = new Promise((resolve) => message.once(end, resolve))
      message.push(content)
      if (end === 'end') message.push(null)
      else message.destroy()
      await ended
      assert.equal(refused?.closed, true)
    }
  })

  test('that a broken disk does not give back is refused with 503', async () => {
    const file = { bytes: 20, read: () => Promise.reject(new GatewayError('unavailable')) }
    const sent = { stream: () => readInPieces(file) } as unknown as Gathering
    const reading = decodeGathered(arrive('gzip', []), sent, 'gzip', MB, async (content) => {
      await content.toArray()
    })
    await assert.rejects(reading, { status: 503 })
  })

  test('that expands a hundredfold is cut where memory starts to matter', async () => {
    const bomb = gzipSync(Buffer.alloc(32 * MB))
    const { out, error } = await decode('gzip', [bomb], 64 * MB)
    assert.equal(error?.status, 413)
    assert.ok(out.length <= 8 * MB)
    const small = await decode('gzip', [gzipSync(Buffer.alloc(4 * MB))], 64 * MB)
    assert.equal(small.out.length, 4 * MB)
  })

  test('may not ask for more memory than eight megabytes of window', async () => {
    // A frame that says it needs a window of 128 MB (RFC 8878, 3.1.1.1.2).
    const frame = Buffer.from('28b52ffd00880100000000', 'hex')
    const { error } = await decode('zstd', [frame], MB)
    assert.equal(error?.status, 400)
  })
})

describe('a request', () => {
  let gateway: TestGateway
  let tenant: Tenant
  before(async () => {
    gateway = await startTestGateway()
    tenant = await gateway.tenant()
  })
  after(() => gateway.stop())

  const post = (path: string, body: Buffer, headers: Record<string, string> = {}) =>
    gateway.fetch(path, {
      method: 'POST',
      key: tenant.key,
      headers: { 'content-type': 'application/json', ...headers },
      body: Uint8Array.from(body),
    })
  const lastBody = () => {
    const body = gateway.simulators.calls.list().at(-1)?.body_base64 ?? ''
    return Buffer.from(body, 'base64').toString()
  }
  const CHAT = '/v1/chat/completions'
  const MESSAGES = [{ role: 'user', content: 'Name three rivers. '.repeat(200) }]
  const PLAIN = Buffer.from(JSON.stringify({ model: 'sim-chat', messages: MESSAGES }))

  test('is held for and sent as if it were plain, in every encoding and with a mark', async () => {
    const sent = await post(CHAT, PLAIN)
    const { held } = await gateway.record(sent, tenant.key)
    const expected = lastBody()
    const marked = Buffer.concat([Buffer.from('\ufeff'), PLAIN])
    const bodies = [['identity', marked] as const, ['identity', PLAIN] as const]
    const encoded = ENCODERS.flatMap(([name, encode]) => [
      [name, encode(PLAIN)] as const,
      [name, encode(marked)] as const,
    ])
    for (const [name, body] of [...bodies, ...encoded]) {
      const answer = await post(CHAT, body, { 'content-encoding': name })
      assert.equal(answer.status, 200, `${name} ${await answer.text()}`)
      assert.equal((await gateway.record(answer, tenant.key)).held, held)
      assert.equal(lastBody(), expected)
    }
  })

  test('repeated in another encoding is the same request', async () => {
    const key = { 'idempotency-key': 'once' }
    const first = await post(CHAT, PLAIN, key)
    const again = await post(CHAT, gzipSync(PLAIN), { ...key, 'content-encoding': 'gzip' })
    assert.equal(again.headers.get('idempotent-replayed'), first.headers.get('x-request-id'))
  })

  test('413 for a bomb, whose connection serves the next one', async () => {
    for (const [name, encode] of ENCODERS) {
      const bomb = encode(Buffer.alloc(48 * MB, ' '))
      assert.ok(bomb.length < 100_000, name)
      const answer = await post(CHAT, bomb, { 'content-encoding': name })
      assert.equal(answer.status, 413, await answer.text())
    }
    assert.equal((await post(CHAT, PLAIN)).status, 200)
  })

  test('400 for other data, 415 for other encodings, with those that are read', async () => {
    for (const name of ['gzip', 'deflate', 'br', 'zstd']) {
      const answer = await post(CHAT, PLAIN, { 'content-encoding': name })
      assert.equal(answer.status, 400, name)
      const { message } = ((await answer.json()) as { error: { message: string } }).error
      assert.equal(message, `the body is not ${name} data, or is cut off`)
    }
    for (const name of ['compress', 'gzip, br', 'toString']) {
      const answer = await post(CHAT, PLAIN, { 'content-encoding': name })
      assert.equal(answer.status, 415, name)
      assert.equal(answer.headers.get('accept-encoding'), 'gzip, deflate, br, zstd')
    }
  })

  test('that is a form may be encoded as well', async () => {
    const form = new FormData()
    form.set('model', 'sim-whisper')
    form.set('file', new Blob([Uint8Array.from(makeWav(2_000))]), 'speech.wav')
    const request = new Request('http://form.invalid', { method: 'POST', body: form })
    const type = { 'content-type': request.headers.get('content-type') ?? '' }
    const body = Buffer.from(await request.arrayBuffer())
    const send = async (bytes: Buffer, headers: object) => {
      const answer = await post('/v1/audio/transcriptions', bytes, { ...type, ...headers })
      return { status: answer.status, held: (await gateway.record(answer, tenant.key)).held }
    }
    const plain = await send(body, {})
    assert.equal(plain.status, 200)
    assert.deepEqual(await send(gzipSync(body), { 'content-encoding': 'gzip' }), plain)
    const headers = { ...type, 'content-encoding': 'zstd' }
    const upload = await post('/v1/files', zstdCompressSync(body), headers)
    assert.equal(upload.status, 200, await upload.text())
    const late = gzipSync(body).subarray(0, -40)
    const broken = await post('/v1/files', late, { ...type, 'content-encoding': 'gzip' })
    assert.match(await broken.text(), /"the body is not gzip data, or is cut off"/)
    for (const path of ['/v1/files', '/v1/audio/transcriptions']) {
      const other = { 'content-type': 'text/plain', 'content-encoding': 'gzip' }
      assert.equal((await post(path, PLAIN, other)).status, 415)
    }
  })
})
