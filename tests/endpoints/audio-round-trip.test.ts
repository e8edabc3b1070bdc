/** Speech, its translation, and back to text: what was said must come through, and be paid for. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import OpenAI from 'openai'
import { joinWords, wordsInBytes } from '../../simulators/openspeech/audio/words.ts'
import { startTestGateway, type TestGateway } from '../support/in-process.ts'
import { makeWav } from '../support/wav.ts'

const TEXT = 'All rivers run. Into the sea!'
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

async function speech(key: string): Promise<Buffer> {
  const path = '/v1/audio/speech/unidirectional?model=seed-tts-2.0'
  const answer = await gateway.post(path, key, {
    req_params: {
      text: TEXT,
      speaker: 'zh_female_vv_uranus_bigtts',
      audio_params: { format: 'pcm', sample_rate: 16000 },
    },
  })
  const lines = answer.text.trim().split('\n')
  const pieces = lines.map((line) => Buffer.from(JSON.parse(line).data ?? '', 'base64'))
  return makeWav(Buffer.concat(pieces))
}

function translate(key: string, wav: Buffer, mode: string): Promise<Response> {
  const form = new FormData()
  const fields = { model: 'sim-interpretation', mode, source_language: 'en', target_language: 'zh' }
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('file', new Blob([new Uint8Array(wav)]), 'speech.wav')
  const headers = { authorization: `Bearer ${key}` }
  return gateway.fetch('/v1/audio/translations', { method: 'POST', headers, body: form })
}

test('speech, translated to text, has the words; ledger and vendor count alike', async () => {
  const { key } = await gateway.tenant()
  const response = await translate(key, await speech(key), 's2t')
  assert.deepEqual(await response.json(), {
    text: 'zh All rivers run. zh Into the sea!',
    source_text: TEXT,
  })
  const record = await gateway.record({ headers: response.headers }, key)
  assert.equal(record.basis, 'usage')
  const charged = Object.fromEntries(record.lines.map(({ unit, quantity }) => [unit, quantity]))
  await gateway.simulators.book.settled()
  const booked = gateway.simulators.book.entries({ operation: 'interpretation' }).at(-1)
  assert.deepEqual(charged, booked?.units)
})

test('speech, translated to speech, still has the words', async () => {
  const { key } = await gateway.tenant()
  const response = await translate(key, await speech(key), 's2s')
  assert.equal(response.headers.get('content-type'), 'audio/ogg')
  const ogg = Buffer.from(await response.arrayBuffer())
  const heard = joinWords(wordsInBytes(ogg).map(({ word }) => word))
  assert.equal(heard, 'zh All rivers run. zh Into the sea!')
})

test('the openai SDK receives speech', async () => {
  const { key } = await gateway.tenant()
  const openai = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  const order = { model: 'sim-tts', input: TEXT, voice: 'alloy' } as const
  const whole = await openai.audio.speech.create({ ...order, response_format: 'opus' })
  const ogg = Buffer.from(await whole.arrayBuffer())
  assert.equal(joinWords(wordsInBytes(ogg).map(({ word }) => word)), TEXT)
  await assert.rejects(
    openai.audio.speech.create({ ...order, input: '' }),
    (error) => error instanceof OpenAI.BadRequestError && /^400 input: /.test(error.message),
  )
})
