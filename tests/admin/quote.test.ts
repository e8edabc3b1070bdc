/** A quote equals the hold of the call itself, for every paid endpoint that takes JSON. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Tenant } from '../support/in-process.ts'
import { makeWav } from '../support/wav.ts'
import { type AdminStage, startAdmin } from './support.ts'

const QUOTE = 'POST /accounts/:account_id/quote'
const USAGE = 'GET /accounts/:account_id/usage/:request_id'
const ASK = [{ role: 'user', content: 'Name three rivers of Asia.' }]
const SPEAKER = 'zh_female_vv_uranus_bigtts'
const SAID = { req_params: { text: 'All rivers run into the sea.', speaker: SPEAKER } }
/** Required by the messages dialect. */
const HEADERS = { 'anthropic-version': '2023-06-01' }
const SEEDANCE = 'doubao-seedance-2-0-260128'

const REQUESTS: readonly (readonly [string, Record<string, string>, object])[] = [
  ['/v1/chat/completions', {}, { model: 'sim-chat', messages: ASK, max_tokens: 50 }],
  ['/v1/chat/completions', {}, { model: 'sim-reasoner', messages: ASK }],
  ['/v1/chat/completions', {}, { models: ['sim-chat', 'sim-reasoner'], messages: ASK }],
  ['/v1/messages', {}, { model: 'sim-claude', messages: ASK, max_tokens: 64 }],
  ['/v1/responses', {}, { model: 'sim-chat', input: 'Name three rivers.' }],
  ['/v1/embeddings', {}, { model: 'sim-embedding', input: ['a river', 'a stream'] }],
  ['/v1/moderations', {}, { model: 'sim-moderation', input: 'a river' }],
  ['/v1/moderations', {}, { input: 'a river' }],
  ['/v1/search', {}, { Type: 'web', Query: 'rivers' }],
  ['/v1/audio/speech/unidirectional', { model: 'seed-tts-2.0' }, SAID],
  ['/v1/audio/speech', {}, { model: 'sim-tts', input: 'To the sea.', voice: 'alloy' }],
  ['/v1/images/generations', {}, { model: 'sim-image', prompt: 'A river', n: 2 }],
  ['/v1/images/async', {}, { model: 'doubao-seedream-4-0-250828', prompt: 'A river' }],
  [
    ...(['/v1/videos/generations', {}] as const),
    { model: SEEDANCE, content: [{ type: 'text', text: 'A river' }], resolution: '1080p' },
  ],
  [
    ...(['/v1/audio/minutes', {}] as const),
    { model: 'service-minutes', file_url: 'https://files.example.com/meeting.mp3' },
  ],
]

let stage: AdminStage
let home: Tenant
before(async () => {
  stage = await startAdmin()
  home = await stage.house('home', '10000')
})
after(() => stage.stop())

const at = () => ({ account_id: home.accountId })
const quote = (body: object, as = 'home-member') => stage.ask(QUOTE, { as, params: at(), body })

describe('a quote', () => {
  for (const [path, query, body] of REQUESTS) {
    test(`of ${path} for ${JSON.stringify(body).slice(0, 40)} equals the hold of the call`, async () => {
      const asked = await quote({ path, query, headers: HEADERS, body })
      assert.equal(asked.status, 200, asked.text)
      const { amount, lines, covered } = asked.json
      const sent = await stage.post(
        `${path}?${new URLSearchParams(query)}`,
        home.key,
        body,
        HEADERS,
      )
      const requestId = sent.headers.get('x-request-id') ?? ''
      const params = { ...at(), request_id: requestId }
      const { held } = await stage.read(USAGE, { as: 'home-member', params })
      assert.equal(amount, held, sent.text)
      assert.equal(covered, true)
      const sum = lines.reduce((total, line) => total + Math.round(Number(line.amount) * 1e9), 0)
      assert.equal(sum, Math.round(Number(amount) * 1e9), 'the lines add up')
    })
  }

  for (const [path, fields, samplesMs] of [
    ['/v1/audio/transcriptions', { model: 'sim-whisper' }, 60_000],
    ['/v1/audio/translations', { model: 'sim-interpretation', mode: 's2t' }, 1_000],
  ] as const) {
    test(`of the form of ${path} is read from the ends of its file`, async () => {
      const wav = makeWav(samplesMs)
      const [head, tail] = [
        wav.subarray(0, 4_096),
        wav.subarray(Math.max(4_096, wav.length - 9_000)),
      ]
      const ends = { head: head.toString('base64'), tail: tail.toString('base64') }
      const asked = await quote({ path, body: fields, file: { bytes: wav.length, ...ends } })
      const form = new FormData()
      for (const [name, value] of Object.entries(fields)) form.set(name, value)
      form.set('file', new Blob([Uint8Array.from(wav)]), 'speech.wav')
      const sent = await stage.fetch(path, { method: 'POST', key: home.key, body: form })
      assert.equal(sent.status, 200, await sent.text())
      const params = { ...at(), request_id: sent.headers.get('x-request-id') ?? '' }
      const { held } = await stage.read(USAGE, { as: 'home-member', params })
      assert.equal(asked.json.amount, held, asked.text)
    })
  }

  test('of a form whose file is of the wrong kind is refused as the file would be', async () => {
    const path = '/v1/audio/translations'
    const file = { bytes: 4, head: Buffer.from('ID3 ').toString('base64') }
    const wrong = await quote({ path, body: { model: 'sim-interpretation' }, file })
    assert.match(wrong.text, /file: needs wav audio of 16 kHz.*found an MP3 file/)
    const none = await quote({ path, body: { model: 'sim-interpretation' } })
    assert.match(none.text, /file: required/)
  })
})

test('a request that would be refused gets the same error', async () => {
  const nothing = await quote({ path: '/v1/chat/completions', body: { model: 'sim-chat' } })
  assert.deepEqual(
    [nothing.status, nothing.json],
    [400, { error: 'messages: required', type: 'invalid_request_error', param: 'messages' }],
  )
  const unknown = await quote({ path: '/v1/search', body: { model: 'none', Query: 'rivers' } })
  assert.equal(unknown.status, 404)
  const free = await quote({ path: '/v1/models', body: {} })
  assert.match(free.text, /path: not the path of a paid endpoint/)
})

test('it says when the balance is not enough', async () => {
  await stage.house('poor', '0.01')
  const poor = await stage.house('poor', '0.01')
  const { json } = await stage.ask(QUOTE, {
    as: 'poor-owner',
    params: { account_id: poor.accountId },
    body: { path: '/v1/search', body: { Type: 'web', Query: 'rivers' } },
  })
  assert.deepEqual([json.amount, json.covered], ['0.03', false])
})

test('it leaves no trace: no hold, no task, no row of the audit log', async () => {
  const tasks = () => stage.sql`select count(*)::int as n from task`
  const [before, audited] = [await tasks(), stage.audited.length]
  const body = { model: 'vendor-minutes', file_url: 'https://a.example/b.mp3', all_activate: true }
  assert.equal((await quote({ path: '/v1/audio/minutes', body })).status, 200)
  assert.deepEqual(await tasks(), before)
  assert.equal(stage.audited.length, audited)
})
