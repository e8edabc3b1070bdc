/** Speech, transcripts and pictures: what is none of them under status 200 is a 502 and free. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../support/in-process.ts'
import { type LocalServer, startServer } from '../support/servers/local-server.ts'
import { makeWav } from '../support/wav.ts'

let gateway: TestGateway
let vendor: LocalServer
let answer = { type: '', body: '' }
let requests = 0

before(async () => {
  vendor = await startServer((request, response) => {
    request.resume().on('end', () => {
      requests += 1
      const head = answer.type === '' ? {} : { 'content-type': answer.type }
      response.writeHead(200, head).end(answer.body)
    })
  })
  gateway = await startTestGateway()
  const settings = { base_url: vendor.url, api_key: 'a-key' }
  const model = (id: string, type: string, unit: string, ...channels: readonly string[]) => ({
    id,
    type,
    prices: [{ unit, per: 1, amount: '0.001' }],
    routes: channels.map((channel, priority) => ({ channel, upstream_model: id, priority })),
  })
  await gateway.apply({
    channels: [
      { id: 'o', upstream: 'openai-compatible', settings },
      { id: 'other', upstream: 'openai-compatible', settings },
      { id: 'd', upstream: 'doubao-speech', settings },
    ],
    models: [
      model('voice', 'speech', 'character', 'o', 'other'),
      model('speaker', 'speech', 'character', 'd'),
      model('listener', 'transcription', 'second', 'o', 'other'),
      model('pictures', 'image', 'image', 'o', 'other'),
    ],
  })
})
after(async () => {
  await gateway.stop()
  await vendor.stop()
})

const PAGE = '<html>Sign in</html>'
const EVENTS = 'text/event-stream'
const JSON_TYPE = 'application/json'
const PLAIN = 'text/plain'

const NONSENSE: readonly (readonly [body: string, ...types: readonly string[]])[] = [
  [PAGE, 'text/html', EVENTS, 'audio/mpeg', JSON_TYPE, ''],
  ['', EVENTS, 'audio/mpeg', ''],
  ['{"error":"busy"}', PLAIN, 'audio/mpeg', JSON_TYPE],
  ['{"code":1001,"message":"busy"}', PLAIN, JSON_TYPE],
  ['{\n\n "error": "busy"\n}', PLAIN, 'audio/mpeg'],
  ['Service busy', PLAIN, EVENTS],
  ['data: [DONE]\n\n', EVENTS],
  ['data: busy\n\n', EVENTS],
]

const SPEECH = { model: 'voice', input: 'hello', voice: 'a' }
const PICTURE = { model: 'pictures', prompt: 'a river' }

const CALLS: Readonly<Record<string, readonly [path: string, body: () => object]>> = {
  'the bytes of speech': ['/v1/audio/speech', () => SPEECH],
  'the events of speech': ['/v1/audio/speech', () => ({ ...SPEECH, stream_format: 'sse' })],
  'speech over lines': ['/v1/audio/speech', () => ({ ...SPEECH, model: 'speaker' })],
  'the events of a transcript': ['/v1/audio/transcriptions', () => record({ stream: 'true' })],
  'a transcript': ['/v1/audio/transcriptions', () => record({})],
  pictures: ['/v1/images/generations', () => PICTURE],
  'the events of pictures': ['/v1/images/generations', () => ({ ...PICTURE, stream: true })],
}

function record(fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries({ model: 'listener', ...fields }))
    form.set(name, value)
  form.set('file', new Blob([new Uint8Array(makeWav(3))]), 'speech.wav')
  return form
}

async function send(path: string, body: object, key: string) {
  const isForm = body instanceof FormData
  const content = isForm ? { body } : { body: JSON.stringify(body), headers: TYPED }
  const response = await gateway.fetch(path, { method: 'POST', key, ...content })
  return { status: response.status, text: await response.text() }
}

const TYPED = { 'content-type': JSON_TYPE }

for (const [name, [path, build]] of Object.entries(CALLS)) {
  test(`502 and no charge for ${name}`, async () => {
    const { key, accountId } = await gateway.tenant()
    const balance = await gateway.balance(accountId)
    for (const [body, ...types] of NONSENSE) {
      for (const type of types) {
        answer = { type, body }
        const { status, text } = await send(path, build(), key)
        assert.equal(status, 502, `${type}: ${body}: ${text}`)
        assert.doesNotMatch(text, /Sign in|Service/)
      }
    }
    assert.deepEqual(await gateway.balance(accountId), balance)
  })
}

test('no other route is tried where the vendor may bill what it did', async () => {
  const { key } = await gateway.tenant()
  const preview = 'data: {"type":"image_generation.partial_image","b64_json":"AAAA"}\n\n'
  const failed = 'data: {"type":"error","error":{"message":"busy"}}\n\n'
  const done = 'data: [DONE]\n\n'
  for (const [name, body, attempts] of [
    ['the events of pictures', preview + failed, 1],
    ['the events of pictures', failed, 2],
    ['the events of a transcript', done, 1],
    ['the events of a transcript', failed + done, 2],
    ['the events of a transcript', 'data: busy\n\n', 2],
    ['the events of speech', done, 1],
    ['the events of speech', '', 2],
  ] as const) {
    answer = { type: EVENTS, body }
    requests = 0
    const [path, build] = CALLS[name] ?? assert.fail(name)
    const { status, text } = await send(path, build(), key)
    assert.deepEqual([status, requests], [502, attempts], `${name}: ${body}: ${text}`)
  }
})

test('a plain transcript is any text but a page or a document without a text', async () => {
  const { key } = await gateway.tenant()
  const plain = (body: string, type: string) => {
    answer = { body, type }
    const fields = { response_format: 'text' }
    return send('/v1/audio/transcriptions', record(fields), key).then(({ status }) => status)
  }
  for (const type of ['text/html', JSON_TYPE, EVENTS, ''])
    assert.equal(await plain(PAGE, type), 502)
  for (const body of ['{}', '{"ok":true}', '{"error":"busy"}']) {
    for (const type of [PLAIN, JSON_TYPE]) assert.equal(await plain(body, type), 502)
  }
  for (const body of ['', 'Service busy', '7', '{"text":"Hello"}', PAGE]) {
    assert.equal(await plain(body, PLAIN), 200, body)
  }
})

test('a stream that breaks off behind its first event ends with an error', async () => {
  const { key } = await gateway.tenant()
  const cut = (event: object) => {
    answer = { type: EVENTS, body: `${PAGE}\n\ndata: ${JSON.stringify(event)}\n\n` }
  }
  cut({ type: 'speech.audio.delta', audio: 'AAAA' })
  const speech = await send('/v1/audio/speech', { ...SPEECH, stream_format: 'sse' }, key)
  assert.match(speech.text, /^data: .*delta[\s\S]*event: error\ndata: /)
  cut({ type: 'transcript.text.delta', delta: 'Hello' })
  const transcript = await send('/v1/audio/transcriptions', record({ stream: 'true' }), key)
  assert.match(transcript.text, /^data: .*Hello[\s\S]*event: error\ndata: /)
})
