/** A caller that waits for `100 Continue` sends its body only to a request that may be served. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../support/in-process.ts'
import { makeWav } from '../support/wav.ts'

const CHAT = '/v1/chat/completions'
const BODY = Buffer.from(
  JSON.stringify({ model: 'sim-chat', messages: [{ role: 'user', content: 'Name a river.' }] }),
)
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'

describe('Expect: 100-continue', () => {
  let gateway: TestGateway
  before(async () => {
    gateway = await startTestGateway()
  })
  after(() => gateway.stop())

  /** Sends the body once it is requested, and reads to the end of the connection. */
  function converse(path: string, headers: Record<string, string>, body: Buffer) {
    const all = { host: 'gateway', connection: 'close', expect: '100-continue', ...headers }
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
    return new Promise<{ sent: boolean; answer: string }>((resolve, reject) => {
      const socket = connect(gateway.gateway.port, '127.0.0.1', () => {
        socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
      })
      let text = ''
      let sent = false
      socket.on('data', (data) => {
        text += data
        if (!sent && text.startsWith(CONTINUE)) {
          sent = true
          socket.write(body)
        }
        // Like curl, the client disconnects if the body is not requested.
        else if (!sent && text.includes('\r\n\r\n') && text.endsWith('}')) socket.end()
      })
      socket.on('close', () => resolve({ sent, answer: text.replace(CONTINUE, '') }))
      socket.on('error', reject)
    })
  }
  const json = (key: string, more: Record<string, string> = {}) => ({
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': String(BODY.length),
    ...more,
  })

  test('a request that may be served gets 100 Continue', async () => {
    const { key } = await gateway.tenant()
    const { sent, answer } = await converse(CHAT, json(key), BODY)
    assert.ok(sent)
    assert.match(answer, /^HTTP\/1.1 200 OK\r\n.*"chat.completion"/s)
    const form = new FormData()
    form.set('model', 'sim-whisper')
    form.set('file', new Blob([Uint8Array.from(makeWav(1_000))]), 'speech.wav')
    const request = new Request('http://form.invalid', { method: 'POST', body: form })
    const type = { 'content-type': request.headers.get('content-type') ?? '' }
    const bytes = Buffer.from(await request.arrayBuffer())
    const length = { 'content-length': String(bytes.length) }
    for (const path of ['/v1/audio/transcriptions', '/v1/files']) {
      const whole = await converse(path, json(key, { ...type, ...length }), bytes)
      assert.ok(whole.sent)
      assert.match(whole.answer, /^HTTP\/1.1 200 OK\r\n/)
    }
  })

  test('a request that its head refuses is not', async () => {
    const { key } = await gateway.tenant()
    const suspended = await gateway.tenant()
    await gateway.sql`
      update account set status = 'suspended' where id = ${suspended.accountId}`
    const type = { 'content-type': 'multipart/form-data; boundary=x' }
    const huge = { 'content-length': String(2 * 1024 ** 3) }
    for (const [path, status, headers] of [
      [CHAT, 401, json('tr-nobody')],
      [CHAT, 403, json(suspended.key)],
      [CHAT, 413, json(key, huge)],
      [CHAT, 415, json(key, { 'content-type': 'image/png' })],
      [CHAT, 415, json(key, { 'content-encoding': 'compress' })],
      ['/v1/nowhere', 404, json(key)],
      ['/v1/balance', 405, json(key)],
      ['/v1/audio/transcriptions', 401, json('tr-nobody', type)],
      ['/v1/audio/translations', 413, json(key, { ...type, ...huge })],
      ['/v1/files', 401, json('tr-nobody', type)],
      ['/v1/files', 413, json(key, { ...type, ...huge })],
    ] as const) {
      const { sent, answer } = await converse(path, headers, BODY)
      assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `), path)
      assert.ok(!sent, `${path} ${status}`)
      assert.match(answer, /\r\nconnection: close\r\n/i)
    }
  })

  test('another expectation is refused', async () => {
    const { answer } = await converse(CHAT, { ...json('tr-nobody'), expect: 'more' }, BODY)
    assert.match(answer, /^HTTP\/1.1 417 /)
    assert.match(answer, /\r\nx-request-id: req_\w+\r\n/i)
    assert.match(answer, /"type":"invalid_request_error"/)
  })
})
