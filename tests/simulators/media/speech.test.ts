import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  countMp3Syllables,
  countSyllables,
  mp3Frames,
} from '../../../simulators/openspeech/audio/count.ts'
import { type Headers, type Json, KEYS, list, rawPost, simulated } from '../support.ts'

const sim = simulated()
const PATH = '/openspeech/api/v3/tts/unidirectional'
const USAGE = { ...KEYS.speech, 'x-control-require-usage-tokens-return': '*' }
const SPEAKER = 'zh_female_vv_uranus_bigtts'
const TEXT = '你好，世界。Now five plain words!'
const SYLLABLES = 8

interface Parameters {
  text?: string
  audio?: object
  more?: object
}

const body = ({ text = TEXT, audio = {}, more = {} }: Parameters = {}) => ({
  user: { uid: 'tester' },
  req_params: { text, speaker: SPEAKER, audio_params: audio, ...more },
})

async function speak(headers: Headers, sent: object) {
  const answer = await sim.post(PATH, headers, sent)
  const lines: Json[] = answer.text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
  const parts = lines.filter((line) => typeof line.data === 'string')
  const audio = Buffer.concat(parts.map((line) => Buffer.from(String(line.data), 'base64')))
  return { ...answer, lines, audio, parts }
}

describe('audio', () => {
  test('mp3 is the default: whole frames, one tone for every syllable', async () => {
    const { lines, audio, parts, headers } = await speak(USAGE, body())
    assert.equal(countMp3Syllables(audio), SYLLABLES)
    assert.equal(mp3Frames(audio)[0]?.sampleRate, 24000)
    assert.ok(parts.length >= 3 && parts.length <= 6)
    assert.equal(headers['content-type'], 'application/json')
    assert.ok(headers['x-tt-logid'])
    const end = { code: 20000000, message: 'OK', data: null }
    assert.deepEqual(lines.at(-1), { ...end, usage: { text_words: [...TEXT].length } })
  })

  for (const rate of [8000, 16000, 22050, 24000, 32000, 44100, 48000]) {
    test(`mp3 and pcm at ${rate} Hz have every syllable, at three speeds`, async () => {
      for (const speech_rate of [-50, 0, 100]) {
        const audio = { sample_rate: rate, speech_rate }
        const mp3 = await speak(USAGE, body({ audio }))
        assert.equal(countMp3Syllables(mp3.audio), SYLLABLES)
        const pcm = await speak(USAGE, body({ audio: { ...audio, format: 'pcm' } }))
        assert.equal(countSyllables(pcm.audio, rate), SYLLABLES)
      }
    })
  }

  test('wav repeats its header in every chunk', async () => {
    const { parts } = await speak(USAGE, body({ audio: { format: 'wav' } }))
    const pcm = parts.map((line) => {
      const bytes = Buffer.from(String(line.data), 'base64')
      assert.equal(bytes.toString('latin1', 0, 4), 'RIFF')
      assert.equal(bytes.readUInt32LE(40), bytes.length - 44)
      return bytes.subarray(44)
    })
    assert.equal(countSyllables(Buffer.concat(pcm), 24000), SYLLABLES)
  })

  test('ogg_opus is a chain of pages from the first to the last', async () => {
    const { audio } = await speak(USAGE, body({ audio: { format: 'ogg_opus' } }))
    const flags: number[] = []
    for (let at = 0, page = 0; at < audio.length; page += 1) {
      assert.equal(audio.toString('latin1', at, at + 4), 'OggS')
      assert.equal(audio.readUInt32LE(at + 18), page)
      flags.push(audio.readUInt8(at + 5))
      const segments = audio.readUInt8(at + 26)
      const sizes = audio.subarray(at + 27, at + 27 + segments)
      at += 27 + segments + sizes.reduce((sum, size) => sum + size, 0)
    }
    assert.equal(flags[0], 2)
    assert.equal(flags.at(-1), 4)
    assert.ok(audio.includes('OpusHead') && audio.includes('OpusTags'))
  })
})

describe('usage and billing', () => {
  test('without the control header no usage is returned, and it is billed all the same', async () => {
    const text = '[[call:no-usage]]四个汉字'
    const { lines } = await speak(KEYS.speech, body({ text }))
    assert.ok(lines.every((line) => !('usage' in line)))
    const [entry] = sim.running.book.entries({ marker: 'no-usage' })
    assert.deepEqual(entry?.units, { character: [...text].length })
    assert.equal(entry?.billed, true)
  })

  test('characters are code points; ssml tags are not among them', async () => {
    const emoji = await speak(USAGE, body({ text: 'a😀b' }))
    assert.equal(emoji.lines.at(-1)?.usage?.text_words, 3)
    const ssml = '<speak>ab<break time="1s"/>c</speak>'
    const tagged = await speak(USAGE, body({ more: { ssml } }))
    assert.equal(tagged.lines.at(-1)?.usage?.text_words, 3)
  })

  test('subtitles come only on request, with times that follow the audio', async () => {
    const plain = await speak(USAGE, body())
    assert.ok(plain.lines.every((line) => !('sentence' in line)))
    const asked = await speak(USAGE, body({ audio: { enable_subtitle: true } }))
    const sentences = asked.lines.filter((line) => 'sentence' in line)
    assert.equal(sentences.length, 2)
    assert.equal(sentences[0]?.sentence?.text, '你好，世界。')
    const times = sentences.flatMap((line) => {
      return list(line.sentence?.words).flatMap((word) => [
        Number(word.startTime),
        Number(word.endTime),
      ])
    })
    assert.equal(times.length, SYLLABLES * 2)
    assert.deepEqual(
      times,
      times.toSorted((left, right) => left - right),
    )
  })
})

describe('refusals', () => {
  const atGateway: [string, Headers, number, number][] = [
    ['no credentials', { 'x-api-resource-id': 'seed-tts-2.0' }, 401, 45000010],
    ['wrong key', { ...KEYS.speech, 'x-api-key': 'x' }, 401, 45000010],
    ['both styles', { ...KEYS.speech, 'x-api-app-id': 'sim-speech-app' }, 401, 45000010],
    ['no resource', { 'x-api-key': 'sim-speech-key' }, 403, 45000030],
  ]
  for (const [name, headers, status, code] of atGateway) {
    test(`by the gateway: ${name}`, async () => {
      const answer = await sim.post(PATH, headers, body())
      assert.equal(answer.status, status)
      assert.equal(answer.json.header?.code, code)
      assert.equal(typeof answer.json.header?.message, 'string')
    })
  }

  test('the legacy pair of credentials is good under either header name', async () => {
    for (const name of ['x-api-app-id', 'x-api-app-key']) {
      const legacy = {
        [name]: 'sim-speech-app',
        'x-api-access-key': 'sim-speech-access-key',
        'x-api-resource-id': 'seed-tts-2.0',
      }
      const { lines } = await speak(legacy, body())
      assert.equal(lines.at(-1)?.code, 20000000)
    }
  })

  const BESIDE = { req_params: { text: TEXT, speaker: SPEAKER }, audio_params: {} }
  const byProduct: [string, object, number][] = [
    ['additions as an object', body({ more: { additions: { silence_duration: 1 } } }), 45000001],
    ['unknown speaker', body({ more: { speaker: 'nobody' } }), 45000001],
    ['voice of another generation', body({ more: { speaker: 'x_moon_bigtts' } }), 55000000],
    ['empty speaker', body({ more: { speaker: '' } }), 45002000],
    ['nothing readable', body({ text: '，。！' }), 45002001],
    ['too long', body({ text: '长'.repeat(10_001) }), 40402003],
    ['bad sample rate', body({ audio: { sample_rate: 11025 } }), 45000001],
    ['no audio_params', { req_params: { text: TEXT, speaker: SPEAKER } }, 45000001],
    ['audio_params beside req_params', BESIDE, 45000001],
    ['audio_params that are none', body({ more: { audio_params: 'mp3' } }), 45000001],
  ]
  for (const [name, sent, code] of byProduct) {
    test(`inside HTTP 200: ${name}`, async () => {
      const { status, lines } = await speak(USAGE, sent)
      assert.equal(status, 200)
      assert.equal(lines.length, 1)
      assert.equal(lines[0]?.code, code)
      assert.equal(sim.running.book.entries().at(-1)?.billed, false)
    })
  }

  test('malformed JSON is refused by the gateway', async () => {
    const { status, json } = await sim.post(PATH, USAGE, '{"a":')
    assert.equal(status, 400)
    assert.equal(json.header?.code, 45000000)
  })
})

describe('faults of the speech stream', () => {
  test('an error can follow audio, flat and under 200', async () => {
    const fault = '[[fault:error-mid;at=2;error-code=55000031]][[call:tts-mid]]'
    const { status, lines } = await speak(USAGE, body({ text: TEXT + fault }))
    assert.equal(status, 200)
    assert.deepEqual(
      lines.map((line) => line.code),
      [0, 0, 55000031],
    )
    assert.equal(sim.running.book.entries({ marker: 'tts-mid' })[0]?.billed, false)
  })

  test('one line comes over two writes', async () => {
    const sent = body({ text: '好[[fault:split=line]]' })
    const { pieces, body: bytes } = await rawPost(sim.url + PATH, USAGE, sent)
    assert.ok(pieces.length >= 8)
    assert.ok(pieces.some((piece) => !piece.toString().endsWith('\n')))
    for (const line of bytes.toString().trim().split('\n')) JSON.parse(line)
  })
})
