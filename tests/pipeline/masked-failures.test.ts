/**
 * A vendor that fails with a misleading status: an error document in place of an answer, file or
 * stream, or a redirect. Each is a 502 that costs nothing, at every endpoint.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../support/in-process.ts'
import { makeWav } from '../support/wav.ts'

let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

const user = (content: string) => [{ role: 'user', content }]
const chat = (model: string, stream: boolean) => (words: string) => {
  return ['/v1/chat/completions', { model, stream, messages: user(words) }] as const
}
const messages = (model: string, stream: boolean) => (words: string) => {
  return ['/v1/messages', { model, stream, max_tokens: 20, messages: user(words) }] as const
}
const responses = (stream: boolean) => (input: string) => {
  return ['/v1/responses', { model: 'sim-chat', stream, input }] as const
}

const REQUESTS: Readonly<Record<string, (words: string) => readonly [string, object]>> = {
  chat: chat('sim-chat', false),
  'chat, streamed': chat('sim-chat', true),
  'chat over messages': chat('sim-claude', false),
  'chat over messages, streamed': chat('sim-claude', true),
  messages: messages('sim-claude', false),
  'messages, streamed': messages('sim-claude', true),
  'messages over chat, streamed': messages('sim-chat', true),
  responses: responses(false),
  'responses, streamed': responses(true),
  embeddings: (input) => ['/v1/embeddings', { model: 'sim-embedding', input }],
  moderations: (input) => ['/v1/moderations', { model: 'sim-moderation', input }],
  search: (Query) => ['/v1/search', { Type: 'web', Query }],
  images: (prompt) => ['/v1/images/generations', { model: 'sim-image', prompt }],
  'speech as a file': (input) => ['/v1/audio/speech', { model: 'sim-tts', voice: 'alloy', input }],
  'speech as events': (input) => {
    const stream_format = 'sse'
    return ['/v1/audio/speech', { model: 'sim-tts-tokens', voice: 'alloy', input, stream_format }]
  },
  'native speech': (text) => {
    const body = { req_params: { text, speaker: 'zh_female_vv_uranus_bigtts', audio_params: {} } }
    return ['/v1/audio/speech/unidirectional?model=seed-tts-2.0', body]
  },
}

for (const [name, make] of Object.entries(REQUESTS)) {
  for (const fault of ['error-200', 'status=302']) {
    test(`${name}: ${fault} is a 502, and the hold is released`, async () => {
      const { key, accountId } = await gateway.tenant()
      const before = await gateway.balance(accountId)
      const [path, body] = make(`[[fault:${fault}]] hi`)
      const version = { 'vendor-version': '2023-06-01' }
      const answer = await gateway.post(path, key, body, version)
      assert.equal(answer.status, 502, answer.text)
      assert.match(answer.text, /upstream provider error/)
      const record = await gateway.record(answer, key)
      assert.deepEqual([record.status, record.charged], ['failed', '0'])
      assert.deepEqual(await gateway.balance(accountId), before)
    })
  }
}

test('an error document is not taken for a transcript in plain text', async () => {
  const { key, accountId } = await gateway.tenant()
  const before = await gateway.balance(accountId)
  const form = new FormData()
  form.set('model', 'sim-whisper')
  form.set('response_format', 'text')
  form.set('prompt', '[[fault:error-200]]')
  form.set('file', new File([new Uint8Array(makeWav(1000))], 'a.wav'))
  const headers = { authorization: `Bearer ${key}` }
  const answer = await gateway.fetch('/v1/audio/transcriptions', {
    method: 'POST',
    headers,
    body: form,
  })
  assert.equal(answer.status, 502, await answer.text())
  assert.deepEqual(await gateway.balance(accountId), before)
})
