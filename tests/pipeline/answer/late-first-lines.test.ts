/**
 * A speech vendor whose first line comes after the head of the answer has gone to the caller: what
 * follows is passed on as it is, and charged as it ended.
 */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { type LocalServer, startServer } from '../../support/servers/local-server.ts'

const PATH = '/v1/audio/speech/unidirectional?model=voice'
const BODY = { req_params: { text: 'four', speaker: 'x' } }
const BROKEN = `${JSON.stringify({ code: 55000000, message: 'upstream provider error', data: null })}\n`
const REFUSAL = '{"code":45000001,"message":"speaker x not found"}\n'
const AUDIO = `{"code":0,"data":"${Buffer.alloc(30).toString('base64')}"}\n`
const END = '{"code":20000000,"message":"OK","data":null,"usage":{"text_words":4}}\n'

let gateway: TestGateway
let vendor: LocalServer
/** Answers that have a head and wait for their lines. */
const waiting: ServerResponse[] = []

before(async () => {
  vendor = await startServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()
    waiting.push(response)
  })
  gateway = await startTestGateway()
  const settings = { base_url: vendor.url, api_key: 'a-key' }
  await gateway.apply({
    channels: [{ id: 'slow', upstream: 'doubao-speech', settings }],
    models: [
      {
        id: 'voice',
        type: 'speech',
        prices: [{ unit: 'character', per: 1, amount: '0.001' }],
        routes: [{ channel: 'slow', upstream_model: 'voice' }],
      },
    ],
  })
})
after(async () => {
  await gateway.stop()
  await vendor.stop()
})

const ENDINGS: readonly (readonly [
  name: string,
  ending: (response: ServerResponse) => unknown,
  text: string,
  charged: string,
])[] = [
  ['audio', (response) => response.end(AUDIO + END), AUDIO + END, '0.004'],
  ['a refusal', (response) => response.end(REFUSAL), REFUSAL, '0'],
  ['a cut after audio', (response) => response.end(AUDIO), AUDIO + BROKEN, '0'],
  ['nothing', (response) => response.end(), BROKEN, '0'],
  ['a reset', (response) => response.destroy(), BROKEN, '0'],
  ['a page', (response) => response.end('<html>'), `<html>\n${BROKEN}`, '0'],
  ['packed lines', (response) => response.end(gzipSync(AUDIO + END)), BROKEN, '0'],
]

for (const [name, ending, text, charged] of ENDINGS) {
  test(`the head does not wait for the first line: ${name}`, async () => {
    const { key, accountId } = await gateway.tenant()
    // Resolves with the head: the vendor has sent no line, and sends none before this.
    const answer = await gateway.fetch(PATH, {
      method: 'POST',
      key,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(BODY),
    })
    assert.equal(answer.status, 200)
    const response = waiting.shift()
    assert.ok(response)
    ending(response)
    assert.equal(await answer.text(), text)
    assert.equal((await gateway.balance(accountId)).held, 0n)
    const id = answer.headers.get('x-request-id')
    const record = (await gateway.get(`/v1/usage/${id}`, key)).json
    assert.equal(record.charged, charged)
    assert.equal(record.status, charged === '0' ? 'failed' : 'succeeded')
    assert.equal(waiting.length, 0, 'no second attempt')
  })
}
