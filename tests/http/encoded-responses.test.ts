/** Responses are compressed for callers that accept it: documents, and streams by the event. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib'
import fc from 'fast-check'
import { encodingOfDocument } from '../../server/base/http/encode-content.ts'
import { type AdminStage, startAdmin } from '../admin/support.ts'
import { startTestGateway, type Tenant } from '../support/in-process.ts'

const DECODERS = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}
const NAMES = Object.keys(DECODERS) as (keyof typeof DECODERS)[]

describe('the encoding', () => {
  const weight = fc.constantFrom('', ';q=1', ';q=0', ';q=0.5', '; q=0.001', ';q=0.75', ';q=1.000')
  const weights = fc.uniqueArray(
    fc.tuple(fc.constantFrom(...NAMES, 'identity', '*', 'compress'), weight),
    { selector: ([name]) => name },
  )

  test('is one of the highest weight that the caller accepts, or none', () => {
    fc.assert(
      fc.property(weights, (asked) => {
        const header = asked.map(([name, q]) => `${name}${q}`).join(' , ')
        const given = new Map(
          asked.map(([name, q]) => [name, q === '' ? 1 : Number(q.split('=')[1])]),
        )
        const weightOf = (name: string) => given.get(name as 'br') ?? given.get('*') ?? 0
        const most = Math.max(...NAMES.map(weightOf))
        const isPlain = most === 0 || (given.get('identity') ?? 0) > most
        const chosen = encodingOfDocument(header, 'application/json', 5_000)
        if (isPlain) assert.equal(chosen, undefined, header)
        else assert.ok(chosen && weightOf(chosen) === most, header)
      }),
      { numRuns: 1_000 },
    )
  })

  test('of any other header than a list of encodings is none', () => {
    fc.assert(
      fc.property(fc.string(), (header) => {
        const isListed = /gzip|deflate|br|zstd|\*/i.test(header)
        const chosen = encodingOfDocument(header, 'application/json', 5_000)
        assert.ok(isListed || chosen === undefined)
      }),
    )
  })

  test('is none for media, for short documents, and without a header', () => {
    const all = 'gzip, deflate, br, zstd'
    for (const type of ['audio/mpeg', 'image/png', 'video/mp4', 'application/octet-stream', '']) {
      assert.equal(encodingOfDocument(all, type, 1_000_000), undefined)
    }
    assert.equal(encodingOfDocument(all, 'application/json', 1_023), undefined)
    assert.equal(encodingOfDocument(all, 'text/plain; charset=utf-8', 1_024), 'zstd')
    assert.equal(encodingOfDocument(undefined, 'application/json', 5_000), undefined)
    assert.equal(encodingOfDocument('gzip;q=x', 'application/json', 5_000), undefined)
    assert.equal(encodingOfDocument(all, 'text/event-stream', 5_000), undefined)
  })
})

const OPERATOR = { id: 'usr_op', email: 'op@example.com', name: 'op', language: 'en' } as const
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'All rivers run into the sea. '.repeat(400) },
      finish_reason: 'stop',
    },
  ],
  usage: USAGE,
}
const chunk = (choice: object) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...choice })}\n\n`
const delta = (content: string, finish: string | null = null) =>
  chunk({ choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: finish }] })

describe('a response', () => {
  let gateway: AdminStage
  let tenant: Tenant
  let script: (response: ServerResponse) => unknown = () => undefined
  const vendor = createServer((asked, response) => {
    asked.resume().on('end', () => script(response))
  }).listen(0, '127.0.0.1')
  before(async () => {
    gateway = await startAdmin()
    tenant = await gateway.tenant()
    const { port } = vendor.address() as AddressInfo
    const settings = { base_url: `http://127.0.0.1:${port}/v1`, api_key: 'a-key' }
    await gateway.apply({
      channels: [{ id: 'own', upstream: 'openai-compatible', settings }],
      models: [
        { id: 'm', type: 'chat', free: true, routes: [{ channel: 'own', upstream_model: 'm' }] },
      ],
    })
  })
  after(async () => {
    vendor.close()
    await gateway.stop()
  })

  /** Sends exactly these headers, and decodes nothing. */
  async function send(
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: object,
  ): Promise<IncomingMessage> {
    const sent = request(gateway.url + path, {
      method,
      headers: {
        authorization: `Bearer ${tenant.key}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
    })
    sent.end(body && JSON.stringify(body))
    const [response] = await once(sent, 'response')
    return response as IncomingMessage
  }
  const decode = (response: IncomingMessage) => {
    const name = response.headers['content-encoding'] as keyof typeof DECODERS | undefined
    return name ? response.pipe(DECODERS[name]()) : response
  }
  const MESSAGES = [{ role: 'user', content: 'Name three rivers.' }]
  const chat = (headers: Record<string, string>, more = {}) =>
    send('POST', '/v1/chat/completions', headers, { model: 'm', messages: MESSAGES, ...more })

  const answerWhole = (response: ServerResponse) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify(ANSWER))

  test('that is a document is the same in every encoding, and says which it has', async () => {
    script = answerWhole
    const plain = await chat({})
    const expected = await text(plain)
    assert.equal(plain.headers['content-encoding'], undefined)
    assert.equal(plain.headers['content-length'], String(Buffer.byteLength(expected)))
    for (const name of NAMES) {
      const response = await chat({ 'accept-encoding': `${name}, identity;q=0.1` })
      const { headers } = response
      assert.deepEqual([headers['content-encoding'], headers.vary], [name, 'accept-encoding'])
      assert.match(headers['x-request-id'] as string, /^req_/)
      const sent = await buffer(response)
      assert.equal(headers['content-length'], String(sent.length))
      assert.ok(sent.length < expected.length / 10)
      assert.equal(await text(Readable.from([sent]).pipe(DECODERS[name]())), expected)
    }
  })

  test('is plain if requested, if short, and if it is an error', async () => {
    script = answerWhole
    for (const accepted of ['identity', 'gzip;q=0', 'identity, *;q=0', 'compress']) {
      const response = await chat({ 'accept-encoding': accepted })
      assert.equal(response.headers['content-encoding'], undefined, accepted)
      assert.equal(JSON.parse(await text(response)).usage.total_tokens, 15)
    }
    for (const [path, status] of [
      ['/v1/balance', 200],
      ['/v1/nowhere', 404],
    ] as const) {
      const response = await send('GET', path, { 'accept-encoding': 'gzip' })
      const body = await text(response)
      assert.equal(response.statusCode, status)
      assert.equal(response.headers['content-encoding'], undefined)
      assert.equal(response.headers['content-length'], String(body.length))
    }
  })

  test('to HEAD has the head of GET, and no body', async () => {
    const accepted = { 'accept-encoding': 'gzip' }
    const get = await send('GET', '/v1/models', accepted)
    const { data } = JSON.parse(await text(decode(get)))
    assert.ok(data.length > 5)
    const head = await send('HEAD', '/v1/models', accepted)
    for (const name of ['content-encoding', 'content-length', 'vary']) {
      assert.equal(head.headers[name], get.headers[name])
    }
    assert.equal(await text(head), '')
  })

  test('of the console’s API stays plain: it belongs to cookies', async () => {
    gateway.enter('operator', { user: { ...OPERATOR, operator: true } })
    const signedIn = { cookie: 'session=operator', 'x-tributary-console': '1', authorization: '' }
    const accepted = { ...signedIn, 'accept-encoding': 'gzip' }
    const response = await send('GET', '/admin/v1/operator/models', accepted)
    const body = await text(response)
    assert.ok(body.length > 5_000, body.slice(0, 200))
    assert.equal(response.headers['content-encoding'], undefined)
  })

  test('that is a file stays as it is', async () => {
    const form = new FormData()
    form.set('file', new Blob(['text '.repeat(1_000)]), 'x.txt')
    const sent = await gateway.fetch('/v1/files', { method: 'POST', key: tenant.key, body: form })
    const { id } = (await sent.json()) as { id: string }
    const response = await send('GET', `/v1/files/${id}/content`, { 'accept-encoding': 'gzip' })
    assert.equal(response.headers['content-encoding'], undefined)
    assert.equal((await text(response)).length, 5_000)
  })

  test('that is a stream stays plain', async () => {
    script = (response) => {
      const usage = chunk({ choices: [], usage: USAGE })
      response.setHeader('content-type', 'text/event-stream')
      response.end(`${delta('one')}${delta('', 'stop')}${usage}data: [DONE]\n\n`)
    }
    const response = await chat({ 'accept-encoding': 'gzip, br' }, { stream: true })
    assert.equal(response.headers['content-encoding'], undefined)
    assert.ok((await text(response)).startsWith(delta('one')))
  })

  test('of a gateway that does not compress is plain', async () => {
    const other = await startTestGateway({ COMPRESS_RESPONSES: 'false' })
    try {
      const { key } = await other.tenant()
      const asked = request(`${other.url}/v1/models`, {
        headers: { authorization: `Bearer ${key}`, 'accept-encoding': 'gzip' },
      }).end()
      const [response] = (await once(asked, 'response')) as [IncomingMessage]
      assert.equal(response.headers['content-encoding'], undefined)
      assert.ok(JSON.parse(await text(response)).data.length > 5)
    } finally {
      await other.stop()
    }
  })
})
