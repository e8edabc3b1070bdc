/** Requests without a route: the error names an alternative, in the form that the caller reads. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { createRoutes } from '../../server/base/http/router.ts'
import { startTestGateway, type TestGateway } from '../support/in-process.ts'
import { sendRaw } from '../support/raw.ts'

let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

const send = (method: string, path: string, headers = {}) =>
  gateway.fetch(path, { method, headers, ...(method === 'PUT' ? { body: '{}' } : {}) })

for (const [path, allow, form] of [
  ['/v1/chat/completions', 'POST', 'nested'],
  ['/v1/responses', 'GET, HEAD, POST', 'nested'],
  ['/v1/embeddings', 'POST', 'nested'],
  ['/v1/models/sim-chat', 'GET, HEAD', 'nested'],
  ['/v1/messages', 'POST', 'flat'],
  ['/v1/search', 'POST', 'flat'],
  ['/v1/balance', 'GET, HEAD', 'flat'],
] as const) {
  test(`405 at ${path}: Allow, and the ${form} form`, async () => {
    for (const method of ['PUT', 'OPTIONS']) {
      const answer = await send(method, path)
      assert.equal(answer.status, 405)
      assert.equal(answer.headers.get('allow'), allow)
      assert.match(answer.headers.get('x-request-id') ?? '', /^req_/)
      const body = (await answer.json()) as { error: { message: string } | string }
      const message = typeof body.error === 'string' ? body.error : body.error.message
      assert.equal(typeof body.error, form === 'flat' ? 'string' : 'object')
      assert.match(message, /^method not allowed on this path: use /)
    }
  })
}

test('405 of messages is nested for callers that send anthropic-version', async () => {
  const answer = await send('PUT', '/v1/messages', { 'anthropic-version': '2023-06-01' })
  const body = (await answer.json()) as { error: { type: string } }
  assert.equal(body.error.type, 'invalid_request_error')
})

for (const [method, path, message] of [
  ['GET', '/nowhere', 'no such path: GET /docs lists all'],
  ['POST', '/search', 'no such path: did you mean /v1/search?'],
  ['POST', '/api/embed', 'no such path: this protocol is not supported: use POST /v1/embeddings'],
  ['GET', '/balance?x=1', 'no such path: did you mean /v1/balance?'],
  ['POST', '//v1//search', 'no such path: did you mean /v1/search?'],
  ['POST', '/v1/search/search', 'no such path: did you mean /v1/search?'],
  ['POST', '/v1/search/v1/search', 'no such path: did you mean /v1/search?'],
  ['POST', '/compatible-mode/v1/search', 'no such path: did you mean /v1/search?'],
  ['POST', '/v1beta/vendor/search/', 'no such path: did you mean /v1/search?'],
  ['POST', '/a/b/c/d/search', 'no such path: did you mean /v1/search?'],
  ['POST', '/a/b/c/d/e/search', 'no such path: GET /docs lists all'],
] as const) {
  test(`404 at ${method} ${path}`, async () => {
    const answer = await send(method, path)
    assert.equal(answer.status, 404)
    assert.deepEqual(await answer.json(), { error: message, type: 'not_found_error' })
  })
}

test('404 at a path of OpenAI’s or Anthropic’s API has the form that their SDKs read', async () => {
  const { key: apiKey } = await gateway.tenant()
  const openai = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  const anthropic = new Anthropic({ apiKey, baseURL: gateway.url, maxRetries: 0 })
  for (const [ask, message] of [
    [() => openai.batches.list(), /^404 no such path: batches are not offered: send single calls/],
    [() => openai.chat.completions.retrieve('chatcmpl-1'), /stored completions are not offered/],
    [() => openai.videos.list(), /^404 .*: use POST \/v1\/videos\/generations$/],
    [() => openai.videos.retrieve('video_1'), /: use POST \/v1\/videos\/generations$/],
    [() => anthropic.messages.batches.list(), /batches are not offered: send single calls/],
  ] as const) {
    await assert.rejects(ask, (error: InstanceType<typeof OpenAI.APIError>) => {
      assert.match(error.message, message)
      assert.equal(error.type, 'not_found_error')
      return true
    })
  }
})

test('404 at a path of Google’s API has Google’s form', async () => {
  for (const path of ['/upload/v1/files?uploadType=resumable', '/v1beta/cachedContents']) {
    const { error } = (await (await send('POST', path)).json()) as { error: { status: string } }
    assert.deepEqual(error, {
      code: 404,
      message:
        'no such path: this service of a vendor is not offered: send the content itself in each ' +
        'request',
      status: 'NOT_FOUND',
    })
  }
})

test('a base URL of Google’s clients with the version: the form is theirs, and says so', async () => {
  for (const path of [
    '/v1beta/v1beta/models/m:generateContent',
    '//v1beta/models/m:generateContent',
  ]) {
    const answer = await send('POST', path)
    const message = 'no such path: did you mean /v1beta/models/:model:generateContent?'
    const status = 'NOT_FOUND'
    assert.deepEqual(await answer.json(), { error: { code: 404, message, status } })
  }
})

test('the path that is meant below another base URL is named in the error', async () => {
  const { key: apiKey } = await gateway.tenant()
  const messages = [{ role: 'user' as const, content: 'hi' }]
  const openai = new OpenAI({ apiKey, baseURL: gateway.url, maxRetries: 0 })
  await assert.rejects(
    openai.chat.completions.create({ model: 'sim-chat', messages }),
    /404 no such path: did you mean \/v1\/chat\/completions\?/,
  )
  const anthropic = new Anthropic({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  await assert.rejects(
    anthropic.messages.create({ model: 'sim-claude', max_tokens: 5, messages }),
    /404 .*did you mean \/v1\/messages\?/,
  )
  for (const base of ['v1/chat/completions', 'openai/v1', 'v1beta/openai']) {
    const other = new OpenAI({ apiKey, baseURL: `${gateway.url}/${base}`, maxRetries: 0 })
    await assert.rejects(
      other.chat.completions.create({ model: 'sim-chat', messages }),
      /404 no such path: did you mean \/v1\/chat\/completions\?/,
    )
  }
  const vendors = new Anthropic({ apiKey, baseURL: `${gateway.url}/anthropic`, maxRetries: 0 })
  await assert.rejects(
    vendors.messages.create({ model: 'sim-claude', max_tokens: 5, messages }),
    /404 .*did you mean \/v1\/messages\?/,
  )
})

test('input that is not a request is answered with a request id too', async () => {
  const many = Array.from({ length: 120 }, (_, index) => `x-${index}: 1\r\n`).join('')
  for (const [request, status] of [
    ['NONSENSE\r\n\r\n', 400],
    [`GET /healthz HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    [`GET /healthz HTTP/1.1\r\nhost: a\r\n${many}\r\n`, 431],
  ] as const) {
    const answer = await sendRaw(gateway.url, request)
    assert.equal(answer.status, status)
    assert.match(answer.head, /x-request-id: req_/i)
    assert.match(answer.body.toString(), /"type":"invalid_request_error"/)
  }
})

test('a refusal of a request without a body leaves its connection open', async () => {
  for (const path of ['/v1/nothing', '/v1/search']) {
    const answer = await send('GET', path)
    assert.equal(answer.headers.get('connection'), 'keep-alive', path)
  }
})

test('a path of an unsupported protocol names an alternative that exists', async () => {
  for (const path of [
    '/v1beta/models/some-model:predict',
    '/v1beta/models/of/some-model:streamGenerateContent?alt=sse',
    '/v1beta1/models/some-model:countTokens',
    '/api/chat',
    '/api/generate',
    '/v1/complete',
    '/v1/engines/some-model/completions',
    '/openai/deployments/some-model/chat/completions?api-version=1',
    '/v1/threads/thread_1/runs',
    '/v1/messages/batches',
    '/v1/realtime/sessions',
    '/v1/fine_tuning/jobs',
    '/v1/credits',
    '/v1/generation?id=gen-1',
    '/model/info',
  ]) {
    const answer = await send('POST', path)
    assert.equal(answer.status, 404, path)
    const body = (await answer.json()) as { error: { message: string } | string }
    const message = typeof body.error === 'string' ? body.error : body.error.message
    assert.match(message, /(?:supported|offered): /, `${path}: ${message}`)
    const named = message.match(/\/(?:v1|docs)[a-z_/]*/g) ?? []
    assert.ok(named.length > 0, message)
    for (const other of named) {
      if (other === '/v1/audio' || other === '/v1') continue
      const found = await send('PUT', other)
      assert.notEqual(found.status, 404, `${path} leads to ${other}`)
    }
  }
})

test('a file below another base URL is the vendor’s file, and no link to a result', async () => {
  const body = (await (await send('GET', '/openai/files/file-1/content')).json()) as object
  assert.match(JSON.stringify(body), /did you mean \/v1\/files\/:file_id\/content\?/)
})

test('a path that no form of has a route is decoded once', (t) => {
  const match = createRoutes([{ method: 'GET', path: '/v1/balance', target: 1 }])
  const decode = t.mock.method(globalThis, 'decodeURIComponent')
  const result = match('GET', '/%ff'.repeat(4_000))
  assert.ok('refused' in result)
  assert.ok(decode.mock.callCount() <= 4_100, `${decode.mock.callCount()} times`)
  decode.mock.resetCalls()
  match('GET', '/%'.repeat(8_000))
  assert.equal(decode.mock.calls.filter(({ error }) => error !== undefined).length, 0)
})
