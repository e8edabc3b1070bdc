/**
 * Gateways in between that write an `error` without content into each of their answers: it is none.
 * The simulators answer, and a proxy adds it.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { type LocalServer, readBody, startServer } from '../../support/servers/local-server.ts'

const CATALOG = join(import.meta.dirname, '..', '..', '..', 'catalog', 'simulators.json')
const EVENT = /^data: (?=\{)(.*)$/gm
const CREDENTIALS = ['authorization', 'x-api-key', 'x-goog-api-key', 'anthropic-version'] as const

let gateway: TestGateway
let proxy: LocalServer
/** What the proxy adds; undefined: nothing. */
let added: unknown

before(async () => {
  gateway = await startTestGateway()
  proxy = await startServer(async (request, response) => {
    const { method = '', url = '' } = request
    const headers = new Headers({ 'content-type': 'application/json' })
    for (const name of CREDENTIALS) {
      const value = request.headers[name]
      if (typeof value === 'string') headers.set(name, value)
    }
    const body = await readBody(request)
    const answer = await fetch(gateway.simulators.url + url, { method, headers, body })
    response.setHeader('content-type', answer.headers.get('content-type') ?? '')
    response.end(withError(await answer.text()))
  })
  const catalog = readFileSync(CATALOG, 'utf8').replaceAll(`\${SIMULATORS_URL}`, proxy.url)
  await gateway.apply(JSON.parse(catalog), 'simulators')
})
after(async () => {
  await gateway.stop()
  await proxy.stop()
})

function withError(text: string): string {
  if (added === undefined) return text
  const add = (json: string) => JSON.stringify({ ...JSON.parse(json), error: added })
  return text.startsWith('{') ? add(text) : text.replace(EVENT, (_, json) => `data: ${add(json)}`)
}

const messages = [{ role: 'user', content: 'hello there' }]
const contents = [{ role: 'user', parts: [{ text: 'hello there' }] }]
const REQUESTS: Readonly<Record<string, readonly [path: string, body: object]>> = {
  chat: ['/v1/chat/completions', { model: 'sim-chat', messages }],
  'chat, streamed': ['/v1/chat/completions', { model: 'sim-chat', messages, stream: true }],
  'chat over messages': ['/v1/chat/completions', { model: 'sim-claude', messages }],
  'chat over contents': ['/v1/chat/completions', { model: 'sim-gemini-3', messages }],
  messages: ['/v1/messages', { model: 'sim-claude', max_tokens: 50, messages }],
  'messages over chat': ['/v1/messages', { model: 'sim-chat', max_tokens: 50, messages }],
  contents: ['/v1beta/models/sim-gemini-3:generateContent', { contents }],
  completions: ['/v1/completions', { model: 'sim-chat', prompt: 'hello there' }],
  'completions, streamed': [
    '/v1/completions',
    { model: 'sim-chat', prompt: 'hello there', stream: true },
  ],
  responses: ['/v1/responses', { model: 'sim-ark-chat', input: 'hello there' }],
  'responses over chat': ['/v1/responses', { model: 'sim-chat', input: 'hello there' }],
  'messages, streamed': [
    '/v1/messages',
    { model: 'sim-claude', max_tokens: 50, messages, stream: true },
  ],
  embeddings: ['/v1/embeddings', { model: 'sim-embedding', input: 'hello there' }],
  moderations: ['/v1/moderations', { model: 'sim-moderation', input: 'hello there' }],
}
const EMPTY = [{}, { message: '', type: '', param: '', code: null }, '', null]

for (const [name, [path, body]] of Object.entries(REQUESTS)) {
  test(`${name}: an empty error is none, one with words is a failure`, async () => {
    const { key } = await gateway.tenant()
    const ask = async (error: unknown) => {
      added = error
      const answer = await gateway.post(path, key, body, { 'anthropic-version': '2023-06-01' })
      const { charged, status: ended } = await gateway.record(answer, key)
      return { status: answer.status, charged, ended, text: answer.text }
    }
    const usual = await ask(undefined)
    assert.equal(usual.status, 200, usual.text)
    for (const empty of EMPTY) {
      const { text, ...rest } = await ask(empty)
      const { status, charged } = usual
      assert.deepEqual(rest, { status, charged, ended: 'succeeded' }, text)
      assert.doesNotMatch(text, /upstream provider error/)
    }
    const failed = await ask({ message: 'out of order' })
    assert.ok(failed.status === 502 || /event: error|"error":\{"message":"[^"]/.test(failed.text))
    assert.equal(failed.ended, 'failed', 'whatever the vendor bills')
  })
}

test('completions keep their form where each event has an error of null', async () => {
  const { key } = await gateway.tenant()
  added = null
  const [path, body] = REQUESTS['completions, streamed'] ?? assert.fail()
  const { text } = await gateway.post(path, key, body)
  assert.match(text, /"object":"text_completion"/)
  assert.doesNotMatch(text, /chat\.completion\.chunk/)
})
