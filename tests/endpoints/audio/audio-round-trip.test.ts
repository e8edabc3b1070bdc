/**
 * Speech, its translation, and back to text, with the openai SDK: the words must survive, the audio
 * must be playable, and each step must be charged.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import OpenAI, { toFile } from 'openai'
import { countSyllables } from '../../../simulators/openspeech/audio/count.ts'
import { joinWords, wordsInBytes } from '../../../simulators/openspeech/audio/words.ts'
import { decode, WITHOUT_FFMPEG } from '../../support/ffmpeg.ts'
import { findFreePort } from '../../support/free-port.ts'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { makeWav } from '../../support/wav.ts'

const TEXT = 'All rivers run. Into the sea!'
const TRANSLATED = 'zh All rivers run. zh Into the sea!'
const OPUS_RATE = 48_000
/** A frame of Opus at each end. */
const TOLERANCE_SECONDS = 0.045
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway({ PORT: String(await findFreePort()) })
})
after(() => gateway.stop())

function open(key: string): OpenAI {
  return new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
}

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

/** The SDK types only the model; other fields are passed on. */
async function translate(key: string, wav: Buffer, mode: string): Promise<Response> {
  const languages = { source_language: 'en', target_language: 'zh' }
  const file = await toFile(wav, 'speech.wav')
  const order = { model: 'sim-interpretation', file, mode, ...languages }
  return open(key).audio.translations.create(order).asResponse()
}

test('speech, translated to text, has the words; ledger and vendor count alike', async () => {
  const { key } = await gateway.tenant()
  const response = await translate(key, await speech(key), 's2t')
  assert.deepEqual(await response.json(), { text: TRANSLATED, source_text: TEXT })
  const record = await gateway.record({ headers: response.headers }, key)
  assert.equal(record.basis, 'usage')
  const charged = Object.fromEntries(record.lines.map(({ unit, quantity }) => [unit, quantity]))
  await gateway.simulators.book.settled()
  const booked = gateway.simulators.book.entries({ operation: 'interpretation' }).at(-1)
  assert.deepEqual(charged, booked?.units)
})

test('speech, translated to speech and transcribed, has the words', async () => {
  const { key } = await gateway.tenant()
  const response = await translate(key, await speech(key), 's2s')
  assert.equal(response.headers.get('content-type'), 'audio/ogg')
  const ogg = Buffer.from(await response.arrayBuffer())
  assert.equal(joinWords(wordsInBytes(ogg).map(({ word }) => word)), TRANSLATED)
  const file = await toFile(ogg, 'translated.ogg')
  const { text } = await open(key).audio.transcriptions.create({ file, model: 'sim-whisper' })
  assert.equal(text, TRANSLATED)
})

/** Returns the length by the position of the last page, in samples. */
function statedSeconds(ogg: Buffer): number {
  return Number(ogg.readBigInt64LE(ogg.lastIndexOf('OggS') + 6)) / OPUS_RATE
}

test('a decoder plays all of the translated speech', { skip: WITHOUT_FFMPEG }, async () => {
  const { key } = await gateway.tenant()
  const response = await translate(key, await speech(key), 's2s')
  const ogg = Buffer.from(await response.arrayBuffer())
  const samples = await decode(ogg, OPUS_RATE)
  const seconds = samples.length / 2 / OPUS_RATE
  assert.ok(Math.abs(seconds - statedSeconds(ogg)) < TOLERANCE_SECONDS, `${seconds} s`)
  assert.equal(countSyllables(samples, OPUS_RATE), TRANSLATED.split(' ').length)
})

for (const voice of ['sim-tts', 'seed-tts-2.0'] as const) {
  for (const ear of ['sim-whisper', 'sim-recognition', 'sim-recognition-turbo']) {
    test(`${voice} speaks it, ${ear} transcribes it`, async () => {
      const { key } = await gateway.tenant()
      const openai = open(key)
      const name = voice === 'sim-tts' ? 'alloy' : 'zh_female_vv_uranus_bigtts'
      const spoken = await openai.audio.speech.create({
        model: voice,
        input: TEXT,
        voice: name,
        response_format: 'opus',
      })
      const file = await toFile(Buffer.from(await spoken.arrayBuffer()), 'speech.ogg')
      const prompt = '[[fault:queue-time=20;run-time=20]]'
      const { text } = await openai.audio.transcriptions.create({ file, model: ear, prompt })
      assert.equal(text, TEXT)
    })
  }
}

test('the SDK reads a refusal of speech', async () => {
  const { key } = await gateway.tenant()
  const order = { model: 'sim-tts', input: '', voice: 'alloy' } as const
  await assert.rejects(
    open(key).audio.speech.create(order),
    (error) => error instanceof OpenAI.BadRequestError && /^400 input: /.test(error.message),
  )
})
