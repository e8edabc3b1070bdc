/** Callers that disconnect: what they pay, and what the record says. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { type LocalServer, startServer } from '../../support/servers/local-server.ts'
import { until } from '../../support/until.ts'

let gateway: TestGateway
let vendor: LocalServer
let script: (response: ServerResponse) => unknown = () => undefined

before(async () => {
  vendor = await startServer((request, response) => {
    request.resume().on('end', () => script(response))
  })
  gateway = await startTestGateway()
  const settings = { base_url: `${vendor.url}/v1`, api_key: 'a-key' }
  const priced = (...units: string[]) => units.map((unit) => ({ unit, per: 1, amount: '0.001' }))
  const upstream = 'openai-compatible'
  await gateway.apply({
    channels: [
      { id: 'reads', upstream, settings },
      { id: 'stops', upstream, settings: { ...settings, stops_on_cancel: true } },
    ],
    models: [
      {
        id: 'chat',
        type: 'chat',
        prices: priced('input_token', 'output_token'),
        routes: [{ channel: 'reads', upstream_model: 'chat' }],
      },
      {
        id: 'letters',
        type: 'speech',
        prices: priced('character'),
        routes: [{ channel: 'stops', upstream_model: 'letters' }],
      },
    ],
  })
})
after(async () => {
  await gateway.stop()
  await vendor.stop()
})

/** Sends a call, leaves once `words` have arrived, and returns its record when its hold has ended. */
async function leaveAt(words: string, path: string, order: object, onLeft: () => unknown) {
  const { key, accountId } = await gateway.tenant()
  const headers = { 'content-type': 'application/json' }
  const leaving = new AbortController()
  const sent = { method: 'POST', headers, body: JSON.stringify(order), signal: leaving.signal }
  const reply = await gateway.fetch(path, { key, ...sent })
  const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!text.includes(words)) text += (await reader?.read())?.value ?? ''
  leaving.abort()
  // The gateway sees that the caller has gone before the vendor ends.
  for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate)
  onLeft()
  const isClosed = async () => ((await gateway.balance(accountId)).held === 0n ? true : undefined)
  await until('the end of the hold', isClosed)
  return await gateway.record(reply, key)
}

test('a caller that disconnects pays for the delivered part of any stream', async () => {
  script = (response) => {
    response.writeHead(200, { 'content-type': 'audio/mpeg' }).write(Buffer.alloc(50_000))
  }
  const order = { model: 'letters', input: 'hello', voice: 'alloy' }
  assert.equal((await leaveAt('\0', '/v1/audio/speech', order, () => undefined)).charged, '0.005')
})

test('a caller that disconnects behind the vendor’s error has not cancelled the call', async () => {
  const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
  let end = () => {}
  script = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(event({ choices: [{ index: 0, delta: { content: 'hello' } }] }))
    response.write(event({ error: { message: 'overloaded' } }))
    end = () =>
      response.end(event({ choices: [], usage: { prompt_tokens: 1000, completion_tokens: 500 } }))
  }
  const messages = [{ role: 'user', content: 'hi' }]
  const order = { model: 'chat', stream: true, max_tokens: 1000, messages }
  const record = await leaveAt('"error"', '/v1/chat/completions', order, () => end())
  assert.deepEqual([record.status, record.charged], ['failed', '1.5'])
})
