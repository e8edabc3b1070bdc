/** POST /v1/audio/speech, black box: over vendors of the same dialect and over a native stream. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { countMp3Syllables, countSyllables } from '../../../simulators/openspeech/audio/count.ts'
import {
  joinWords,
  SampleListener,
  wordsInBytes,
} from '../../../simulators/openspeech/audio/words.ts'
import { decode, WITHOUT_FFMPEG } from '../../support/ffmpeg.ts'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { testCommonStatuses } from '../common-statuses.ts'

const PATH = '/v1/audio/speech'
const VOICES = { 'sim-tts': 'alloy', 'seed-tts-2.0': 'zh_female_vv_uranus_bigtts' } as const
const MODELS = Object.keys(VOICES) as (keyof typeof VOICES)[]
const WORDS = 'All rivers run into the sea.'
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

const order = (model: keyof typeof VOICES | 'sim-tts-tokens', more: object = {}) => {
  return { model, input: WORDS, voice: model === 'sim-tts-tokens' ? 'a' : VOICES[model], ...more }
}

async function say(body: object) {
  const { key, accountId } = await gateway.tenant()
  const response = await gateway.fetch(PATH, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const bytes = await response.arrayBuffer().then(Buffer.from, () => undefined)
  return { response, bytes: bytes ?? Buffer.alloc(0), isCut: !bytes, key, accountId }
}

const record = ({ response, key }: Awaited<ReturnType<typeof say>>) =>
  gateway.record({ headers: response.headers }, key)

const wordsIn = (bytes: Buffer, isSamples: boolean) => {
  const words = isSamples ? new SampleListener().push(bytes) : wordsInBytes(bytes)
  return joinWords(words.map(({ word }) => word))
}

const TYPES = { mp3: 'audio/mpeg', opus: 'audio/ogg', wav: 'audio/wav', pcm: 'audio/pcm' }

for (const model of MODELS) {
  for (const [format, type] of Object.entries(TYPES)) {
    test(`200: ${model} says the words as ${format}, billed by characters`, async () => {
      const answer = await say(order(model, { response_format: format }))
      assert.equal(answer.response.status, 200, answer.bytes.toString())
      assert.equal(answer.response.headers.get('content-type'), type)
      assert.equal(wordsIn(answer.bytes, format === 'wav' || format === 'pcm'), WORDS)
      if (format === 'wav') assert.equal(answer.bytes.toString('latin1', 0, 4), 'RIFF')
      const { lines, status } = await record(answer)
      assert.equal(status, 'succeeded')
      assert.deepEqual(
        lines.map(({ unit, quantity }) => [unit, quantity]),
        [['character', WORDS.length]],
      )
    })

    test(`a decoder plays all of the ${format} of ${model}`, { skip: WITHOUT_FFMPEG }, async () => {
      const { bytes } = await say(order(model, { response_format: format }))
      const rate = format === 'opus' ? 48_000 : 24_000
      // A stream's header cannot state its length: all received bytes are audio.
      if (format === 'wav') bytes.writeUInt32LE(bytes.length - 44, 40)
      const samples = format === 'pcm' ? bytes : await decode(bytes, rate)
      if (format !== 'mp3') assert.equal(countSyllables(samples, rate), 6)
      const seconds = samples.length / 2 / rate
      assert.ok(seconds > 1.2 && seconds < 2, `${seconds} s`)
    })
  }

  test(`mp3 is the default of ${model}; speed makes it shorter`, async () => {
    const slow = await say(order(model))
    const fast = await say(order(model, { speed: 2 }))
    assert.equal(countMp3Syllables(slow.bytes), 6)
    assert.ok(fast.bytes.length < slow.bytes.length * 0.8)
  })

  test(`events: ${model} sends deltas and a usage`, async () => {
    const answer = await say(order(model, { stream_format: 'sse' }))
    assert.equal(answer.response.headers.get('content-type'), 'text/event-stream')
    const events = answer.bytes
      .toString()
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => JSON.parse(line.slice(6)))
    const deltas = events.filter(({ type }) => type === 'speech.audio.delta')
    const audio = deltas.map((event) => Buffer.from(event.audio, 'base64'))
    assert.equal(wordsIn(Buffer.concat(audio), false), WORDS)
    assert.equal(events.at(-1).type, 'speech.audio.done')
    assert.ok(events.at(-1).usage.input_tokens > 0)
  })

  test(`an interrupted answer of ${model} is cut off, and costs nothing`, async () => {
    const input = `${WORDS} [[fault:reset-mid=2]]`
    const answer = await say(order(model, { input }))
    assert.equal(answer.isCut, true)
    const { status, charged } = await record(answer)
    assert.deepEqual([status, Number(charged)], ['failed', 0])
    assert.equal((await gateway.balance(answer.accountId)).held, 0n)
  })
}

test('tokens are charged as stated by the events, or else estimated', async () => {
  const stated = await record(await say(order('sim-tts-tokens', { stream_format: 'sse' })))
  assert.equal(stated.basis, 'usage')
  assert.deepEqual(
    stated.lines.map(({ unit }) => unit),
    ['input_token', 'audio_output_token'],
  )
  const guessed = await record(await say(order('sim-tts-tokens')))
  assert.equal(guessed.basis, 'estimate')
})

for (const format of ['mp3', 'opus', 'wav', 'pcm']) {
  test(`tokens of ${format} are estimated by its length, whatever its speed`, async () => {
    for (const speed of [0.5, 1, 4]) {
      const body = order('sim-tts-tokens', { response_format: format, speed })
      const { lines, held } = await record(await say(body))
      const charged = lines.find(({ unit }) => unit === 'audio_output_token')?.quantity ?? 0
      await gateway.simulators.book.settled()
      const billed = gateway.simulators.book.entries().at(-1)?.units.output_token ?? 0
      // A token more for each twenty, and one for a frame that is not full.
      assert.ok(
        Math.abs(charged - billed) <= 2 + billed / 15,
        `${charged} charged, ${billed} billed`,
      )
      const most = await record(await say({ ...body, speed: 1 }))
      if (speed > 1) assert.equal(held, most.held)
    }
  })
}

test('400: each field, in the envelope of the SDKs', async () => {
  const { key } = await gateway.tenant()
  for (const [more, message] of [
    [{ input: '' }, /^input: /],
    [{ input: 'a'.repeat(4097) }, /^input: at most 4096/],
    [{ input: undefined }, /^input: required/],
    [{ voice: undefined }, /^voice: /],
    [{ speed: 0.2 }, /^speed: /],
    [{ speed: 4.1 }, /^speed: /],
    [{ Speed: 0.25 }, /^Speed: .*'speed'/],
    [{ response_format: 'ogg' }, /^response_format: /],
    [{ stream_format: 'x' }, /^stream_format: /],
    [{ text: 'b' }, /^text: .*'input'/],
    [{ SSML: '<speak>b</speak>' }, /^SSML: .*'input'/],
    [{ prompt: 'b' }, /^prompt: .*'input'/],
    [{ segments: [{ text: 'b' }] }, /^segments: .*'input'/],
  ] as const) {
    const answer = await gateway.post(PATH, key, order('sim-tts', more))
    assert.equal(answer.status, 400, JSON.stringify(more))
    assert.match(answer.json.error.message, message)
  }
  const other = { text: null, instructions: 'text: slowly' }
  assert.equal((await gateway.post(PATH, key, order('sim-tts', other))).status, 200)
  const longest = await gateway.post(PATH, key, order('sim-tts', { input: '𝄞'.repeat(4096) }))
  assert.equal(longest.status, 200)
})

test('400: a format or voice that the vendor does not support', async () => {
  const { key } = await gateway.tenant()
  const aac = await gateway.post(PATH, key, order('seed-tts-2.0', { response_format: 'aac' }))
  assert.equal(aac.status, 400, aac.text)
  assert.match(aac.json.error.message, /mp3, opus, wav and pcm/)
  const body = order('seed-tts-2.0', { voice: 'alloy' })
  const voice = await gateway.post(PATH, key, body)
  assert.equal(voice.status, 400, voice.text)
  assert.match(voice.json.error.message, /speaker alloy not found/)
})

test('instructions are translated for the native vendor, and are not billed', async () => {
  const body = order('seed-tts-2.0', { instructions: 'as a pirate' })
  const { lines } = await record(await say(body))
  assert.equal(lines[0]?.quantity, WORDS.length)
  const calls = gateway.simulators.calls.list()
  const sent = Buffer.from(calls.at(-1)?.body_base64 ?? '', 'base64').toString()
  const { additions } = JSON.parse(sent).req_params
  assert.deepEqual(JSON.parse(additions), { context_texts: ['as a pirate'] })
})

testCommonStatuses(() => gateway, {
  path: PATH,
  body: order('sim-tts'),
  model: 'sim-tts',
  envelope: 'nested',
  withWords: (words) => order('sim-tts', { input: words }),
  withModel: (model) => ({ path: PATH, body: { ...order('sim-tts'), model } }),
})

for (const [voice, param] of [
  [{ id: 'voice_of_somebody' }, 'voice.id'],
  [' Speech:somebody:x:y', 'voice'],
] as const) {
  test(`a voice of somebody's recordings is no other's: ${param}`, async () => {
    const answer = await say(order('sim-tts', { voice }))
    const { error } = JSON.parse(answer.bytes.toString())
    assert.deepEqual(
      [answer.response.status, error.param, error.code],
      [400, param, 'stored_content_not_found'],
    )
  })
}

test('an object with the name of a speaker is no such voice', async () => {
  const answer = await say(order('seed-tts-2.0', { voice: { id: VOICES['seed-tts-2.0'] } }))
  assert.equal(answer.response.status, 200, answer.bytes.toString())
})
