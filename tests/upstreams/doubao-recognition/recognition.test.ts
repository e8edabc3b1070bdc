/** The recognition driver, against the answers that its documentation shows. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { doubaoRecognitionDriver as driver } from '../../../server/wire/upstreams/doubao-recognition/recognition.ts'
import { type Recorded, startRecorded, wire } from '../recording-vendor.ts'

const QUERY = '/api/v3/auc/bigmodel/query'
const SUBMIT = '/api/v3/auc/bigmodel/submit'

async function vendor(t: TestContext, recorded: Recorded) {
  const { url, seen } = await startRecorded(t, () => ({ [QUERY]: recorded, [SUBMIT]: recorded }))
  const settings = { base_url: url, app_id: 'app', access_key: 'token' }
  return { settings, upstreamModel: 'volc.seedasr.auc', seen }
}

for (const [file, type, format] of [
  ['a.mp3', undefined, 'mp3'],
  ['a', 'audio/x-wav', 'wav'],
  ['a.mp3', 'audio/ogg; codecs=opus', 'ogg'],
  ['download', 'application/ogg', 'ogg'],
  ['a.wav', 'application/octet-stream', 'wav'],
  ['a.m4a', 'audio/mpeg', 'mp3'],
  ['a', 'audio/x-mpeg', 'mp3'],
  ['a.opus?m4a=1', undefined, 'ogg'],
  ['a', undefined, 'mp3'],
] as const) {
  test(`the format of ${file} as ${type ?? 'an unknown type'} is ${format}`, async (t) => {
    const { seen, ...channel } = await vendor(t, { code: 20000000 })
    const parameters = { file_url: `https://files.example/${file}`, media_type: type }
    const order = { ...channel, parameters, details: {}, sentFields: new Set<string>() }
    await driver.submit(wire, order, { id: 'att_1' })
    assert.equal(JSON.parse(seen[0]?.body ?? '').audio.format, format)
  })
}

for (const [file, type, found] of [
  ['a.m4a', undefined, 'm4a'],
  ['A.MP4', 'application/octet-stream', 'mp4'],
  ['a.flac', undefined, 'flac'],
  ['a.mp3', 'audio/mp4', 'mp4'],
  ['a', 'video/webm; codecs=opus', 'webm'],
  ['a', 'audio/x-m4a', 'm4a'],
] as const) {
  test(`${file} as ${type ?? 'an unknown type'} is not taken as it is: ${found}`, async (t) => {
    const { seen, ...channel } = await vendor(t, { code: 20000000 })
    const parameters = { file_url: `https://files.example/${file}`, media_type: type }
    const order = { ...channel, parameters, details: {}, sentFields: new Set<string>() }
    const { untaken } = driver.prepare(order)
    assert.equal(untaken?.kind, 'rejected')
    assert.equal(untaken.details.param, 'file_url')
    assert.ok(untaken.message.includes(`not ${found}, which this gateway cannot convert`))
    await assert.rejects(driver.submit(wire, order, { id: 'att_1' }), { kind: 'rejected' })
    assert.equal(seen.length, 0)
  })
}

test('the id of the task is the id of the request; speakers are always identified', async (t) => {
  const { seen, ...channel } = await vendor(t, { code: 20000000 })
  const parameters = {
    file_url: 'https://files.example/A.WAV?x=1',
    source_lang: 'en_us',
    speaker_identification: false,
    hot_words: '["Seed"]',
  }
  const order = { ...channel, parameters, details: {}, sentFields: new Set<string>() }
  const { upstreamId } = await driver.submit(wire, order, { id: 'att_1' })
  const [request] = seen
  assert.ok(request)
  const { headers, body } = request
  assert.equal(headers['x-api-request-id'], upstreamId)
  assert.match(upstreamId, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.equal(headers['x-api-app-key'], 'app')
  assert.equal(headers['x-api-access-key'], 'token')
  assert.deepEqual(JSON.parse(body), {
    audio: { url: parameters.file_url, format: 'wav', language: 'en-US' },
    request: {
      model_name: 'bigmodel',
      enable_itn: true,
      enable_punc: true,
      enable_speaker_info: true,
      show_utterances: true,
      corpus: { context: '{"hotwords":[{"word":"Seed"}]}' },
    },
  })
})

const utterances = [
  {
    text: '大家好，',
    start_time: 120,
    end_time: 1480,
    definite: true,
    additions: { speaker: '1' },
    words: [{ text: '大', start_time: -1, end_time: 300, blank_duration: 0 }],
  },
  {
    text: '开始吧。',
    start_time: 1700,
    end_time: 2660,
    definite: true,
    additions: { speaker: '2' },
    words: [],
  },
]
const sentences = [
  {
    start_ms: 120,
    end_ms: 1480,
    speaker: '1',
    text: '大家好，',
    words: [{ text: '大', start_ms: 0, end_ms: 300 }],
  },
  { start_ms: 1700, end_ms: 2660, speaker: '2', text: '开始吧。' },
]
const text = '大家好，开始吧。'

for (const [name, body, duration, rest] of [
  [
    'the stated length is what is used',
    { audio_info: { duration: 4820 }, result: { text, utterances } },
    4.82,
    { usage: { second: 5 }, measured: { second: 3 } },
  ],
  [
    'without one, the last word',
    { result: { text, utterances } },
    2.66,
    { measured: { second: 3 } },
  ],
] as const) {
  test(`a poll: ${name}`, async (t) => {
    const { settings, upstreamModel } = await vendor(t, { code: 20000000, body })
    const outcome = await driver.poll(wire, { settings, upstreamModel, upstreamId: 'id' })
    assert.deepEqual(outcome, {
      state: 'succeeded',
      result: { duration, text, sentences },
      ...rest,
    })
  })
}

test('a poll: without a stated length, that of the file', async (t) => {
  const body = { result: { text, utterances } }
  const { settings, upstreamModel } = await vendor(t, { code: 20000000, body })
  const reference = { settings, upstreamModel, upstreamId: 'id', recordingSeconds: 60.5 }
  assert.deepEqual(await driver.poll(wire, reference), {
    state: 'succeeded',
    result: { duration: 60.5, text, sentences },
    measured: { second: 61 },
  })
})

test('a success without a word or a length is not charged as the longest recording', async (t) => {
  const { settings, upstreamModel } = await vendor(t, { code: 20000000, body: { result: {} } })
  const outcome = await driver.poll(wire, { settings, upstreamModel, upstreamId: 'id' })
  assert.deepEqual(outcome, {
    state: 'succeeded',
    result: { duration: 0, text: '', sentences: [] },
    measured: { second: 0 },
  })
})

for (const duration of [null, '', '60 s', true, [], {}, -1]) {
  test(`a length of ${JSON.stringify(duration)} states nothing`, async (t) => {
    const body = { audio_info: { duration }, result: { text, utterances } }
    const { settings, upstreamModel } = await vendor(t, { code: 20000000, body })
    const poll = await driver.poll(wire, { settings, upstreamModel, upstreamId: 'id' })
    assert.deepEqual(poll, {
      state: 'succeeded',
      result: { duration: 2.66, text, sentences },
      measured: { second: 3 },
    })
  })
}

for (const body of [undefined, {}, [], 'text', { result: [], audio_info: null }]) {
  test(`success with ${JSON.stringify(body)} is polled again`, async (t) => {
    const { settings, upstreamModel } = await vendor(t, { code: 20000000, body })
    const poll = driver.poll(wire, { settings, upstreamModel, upstreamId: 'id' })
    await assert.rejects(poll, { kind: 'failed' })
  })
}

for (const [name, recorded, known] of [
  ['runs', { code: 20000001 }, true],
  ['has ended', { code: 20000000, body: {} }, true],
  ['has failed', { code: 45000151 }, true],
  ['is unknown', { code: 45000001, message: 'task not found' }, false],
] as const) {
  test(`a lost submission whose task ${name}`, async (t) => {
    const { seen: _seen, ...channel } = await vendor(t, recorded)
    const attempt = { id: 'att_1' }
    const recovered = await driver.recover?.(wire, { ...channel, attempt })
    assert.equal(recovered !== undefined, known)
  })
}
