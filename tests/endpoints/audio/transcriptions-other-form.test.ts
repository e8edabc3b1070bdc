/** POST /v1/audio/transcriptions at vendors whose answer is not of the form that they say it is. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { type LocalServer, startServer } from '../../support/servers/local-server.ts'
import { makeWav } from '../../support/wav.ts'

const TEXT = 'All rivers run.'
const USAGE = { type: 'duration', seconds: 7 }
const DOCUMENT = JSON.stringify({ text: TEXT, usage: USAGE })
const EVENTS = [
  { type: 'transcript.text.delta', delta: TEXT },
  { type: 'transcript.text.done', text: TEXT, usage: USAGE },
]
  .map((event) => `data: ${JSON.stringify(event)}\n\n`)
  .join('')

let gateway: TestGateway
let vendor: LocalServer
let answer = { type: '', body: '' }

before(async () => {
  vendor = await startServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': answer.type }).end(answer.body)
    })
  })
  gateway = await startTestGateway()
  const settings = { base_url: vendor.url, api_key: 'a-key' }
  await gateway.apply({
    channels: [{ id: 'odd', upstream: 'openai-compatible', settings }],
    models: [
      {
        id: 'listener',
        type: 'transcription',
        prices: [{ unit: 'second', per: 1, amount: '1' }],
        routes: [{ channel: 'odd', upstream_model: 'listener' }],
      },
    ],
  })
})
after(async () => {
  await gateway.stop()
  await vendor.stop()
})

async function transcribe(fields: Readonly<Record<string, string>>) {
  const { key } = await gateway.tenant()
  const order = new FormData()
  order.set('model', 'listener')
  for (const [name, value] of Object.entries(fields)) order.set(name, value)
  order.set('file', new Blob([new Uint8Array(makeWav(3))]), 'speech.wav')
  const options = { method: 'POST', body: order, key }
  const response = await gateway.fetch('/v1/audio/transcriptions', options)
  const text = await response.text()
  const { status, basis, charged, review } = await gateway.record(response, key)
  const type = response.headers.get('content-type')
  return { status: response.status, type, text, charge: [status, basis, charged, review] }
}

for (const stream of [true, false]) {
  for (const [form, body] of Object.entries({ document: DOCUMENT, events: EVENTS })) {
    for (const type of ['application/json', 'text/event-stream', 'application/octet-stream']) {
      // What is called a document where events were requested is passed as it is.
      if (stream && type === 'application/json') continue
      const wanted = stream ? 'events' : 'a document'
      test(`${form} called ${type} where ${wanted} was requested: the usage is charged`, async () => {
        answer = { type, body }
        const called = await transcribe(stream ? { stream: 'true' } : {})
        assert.equal(called.status, 200)
        assert.equal(called.text, stream ? EVENTS : DOCUMENT)
        assert.deepEqual(called.charge, ['succeeded', 'usage', '7', false])
      })
    }
  }
}

for (const format of ['text', 'srt', 'vtt']) {
  test(`events where ${format} was requested pass as events: the usage is charged`, async () => {
    answer = { type: 'text/event-stream', body: EVENTS }
    const called = await transcribe({ response_format: format })
    assert.deepEqual([called.status, called.type], [200, 'text/event-stream'])
    assert.equal(called.text, EVENTS)
    assert.deepEqual(called.charge, ['succeeded', 'usage', '7', false])
  })
}

const DELTA = 'data: {"type":"transcript.text.delta","delta":"All"}\n\n'
for (const [type, body] of [
  ['text/html', '<html><body>502 Bad Gateway</body></html>'],
  ['text/plain', 'upstream overloaded'],
  ['application/json', '"queue full"'],
  ['text/event-stream', 'data: {"type":"error","message":"busy"}\n\n'],
  ['text/event-stream', `${DELTA}data: {"error":{"message":"busy"}}\n\n`],
  ['text/event-stream', DELTA],
] as const) {
  test(`502, nothing is charged: no transcript is in ${JSON.stringify(body)}`, async () => {
    answer = { type, body }
    const called = await transcribe({})
    assert.equal(called.status, 502, called.text)
    assert.deepEqual(called.charge, ['failed', 'none', '0', false])
  })
}
