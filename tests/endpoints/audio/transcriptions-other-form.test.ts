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

for (const stream of [true, false]) {
  for (const [form, body] of Object.entries({ document: DOCUMENT, events: EVENTS })) {
    for (const type of ['application/json', 'text/event-stream', 'application/octet-stream']) {
      // What is called a document where events were requested is passed as it is.
      if (stream && type === 'application/json') continue
      const wanted = stream ? 'events' : 'a document'
      test(`${form} called ${type} where ${wanted} was requested: the usage is charged`, async () => {
        answer = { type, body }
        const { key } = await gateway.tenant()
        const order = new FormData()
        order.set('model', 'listener')
        if (stream) order.set('stream', 'true')
        order.set('file', new Blob([new Uint8Array(makeWav(3))]), 'speech.wav')
        const options = { method: 'POST', body: order, key }
        const response = await gateway.fetch('/v1/audio/transcriptions', options)
        assert.equal(response.status, 200)
        assert.equal(await response.text(), stream ? EVENTS : DOCUMENT)
        const record = await gateway.record(response, key)
        assert.deepEqual([record.basis, record.charged, record.review], ['usage', '7', false])
      })
    }
  }
}
