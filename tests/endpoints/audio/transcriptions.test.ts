/** POST /v1/audio/transcriptions, black box with the openai SDK. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import OpenAI, { toFile } from 'openai'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { makeWav } from '../../support/wav.ts'
import { testCommonStatuses } from '../common-statuses.ts'

const TEXT = 'All rivers run. Into the sea!'
const PATH = '/v1/audio/transcriptions'
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

type Format = 'mp3' | 'opus' | 'wav'

async function setUp() {
  const { key, accountId } = await gateway.tenant()
  const openai = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  const speak = async (response_format: Format, input = TEXT) => {
    const order = { model: 'sim-tts', voice: 'alloy', input, response_format } as const
    const answer = await openai.audio.speech.create(order)
    return toFile(Buffer.from(await answer.arrayBuffer()), `odd "name.${response_format}`)
  }
  return { key, accountId, openai, speak }
}

const lastRecord = async (key: string) => {
  const list = await gateway.get('/v1/usage?limit=1&endpoint=audio.transcriptions', key)
  return (await gateway.get(`/v1/usage/${list.json.data[0].request_id}`, key)).json
}

for (const format of ['mp3', 'opus', 'wav'] as const) {
  test(`json is the default: the words of ${format}, billed by the second`, async () => {
    const { key, openai, speak } = await setUp()
    const file = await speak(format)
    const answer = await openai.audio.transcriptions.create({ file, model: 'sim-whisper' })
    assert.equal(answer.text, TEXT)
    const record = await lastRecord(key)
    assert.equal(record.basis, 'usage')
    const booked = gateway.simulators.book.entries({ operation: 'audio.transcriptions' }).at(-1)
    const charged = record.lines.map((line: { unit: string; quantity: number }) => [
      line.unit,
      line.quantity,
    ])
    assert.deepEqual(charged, Object.entries(booked?.units ?? {}))
  })

  test(`text has no usage: the length in the header of ${format} is charged`, async () => {
    const { key, openai, speak } = await setUp()
    const file = await speak(format)
    const order = { file, model: 'sim-whisper', response_format: 'text' } as const
    const text: unknown = await openai.audio.transcriptions.create(order)
    assert.equal(text, `${TEXT}\n`)
    const record = await lastRecord(key)
    assert.equal(record.basis, 'estimate')
    const booked = gateway.simulators.book.entries({ operation: 'audio.transcriptions' }).at(-1)
    assert.equal(record.lines.length, 1)
    assert.equal(record.lines[0].quantity, booked?.units.second)
  })
}

test('srt, vtt and verbose_json with both granularities', async () => {
  const { openai, speak } = await setUp()
  const file = await speak('wav')
  const ask = (response_format: 'srt' | 'vtt') =>
    openai.audio.transcriptions.create({ file, model: 'sim-whisper', response_format })
  const srt: unknown = await ask('srt')
  assert.match(String(srt), /^1\n00:00:00,\d{3} --> 00:00:0\d,\d{3}\nAll rivers run\.\n\n2\n/)
  const vtt: unknown = await ask('vtt')
  assert.match(String(vtt), /^WEBVTT\n\n00:00:00\.\d{3} --> /)
  const verbose = await openai.audio.transcriptions.create({
    file,
    model: 'sim-whisper',
    response_format: 'verbose_json',
    language: 'en',
    temperature: 0.2,
    prompt: 'rivers',
    timestamp_granularities: ['word', 'segment'],
  })
  assert.equal(verbose.words?.length, 6)
  assert.equal(verbose.segments?.length, 2)
  assert.equal(verbose.language, 'en')
})

test('diarized_json reaches the vendor, and is billed by the tokens that it states', async () => {
  const { key, openai, speak } = await setUp()
  const diarized = (await openai.audio.transcriptions.create({
    file: await speak('wav'),
    model: 'sim-whisper-tokens',
    response_format: 'diarized_json',
    chunking_strategy: 'auto',
  })) as OpenAI.Audio.TranscriptionDiarized
  assert.deepEqual(
    diarized.segments.map(({ speaker, text }) => [speaker, text]),
    [
      ['A', 'All rivers run.'],
      ['B', 'Into the sea!'],
    ],
  )
  const record = await lastRecord(key)
  assert.equal(record.basis, 'usage')
  await gateway.simulators.book.settled()
  const booked = gateway.simulators.book.entries({ operation: 'audio.transcriptions' }).at(-1)
  const quantities = record.lines.map((line: { unit: string; quantity: number }) => [
    line.unit,
    line.quantity,
  ])
  assert.deepEqual(Object.fromEntries(quantities), booked?.units)
})

test('a stream of text, billed by the tokens at its end', async () => {
  const { key, openai, speak } = await setUp()
  const file = await speak('wav')
  const order = { file, model: 'sim-whisper-tokens', stream: true } as const
  let text = ''
  let done = ''
  for await (const event of await openai.audio.transcriptions.create(order)) {
    if (event.type === 'transcript.text.delta') text += event.delta
    if (event.type === 'transcript.text.done') done = event.text
  }
  assert.deepEqual([text, done], [TEXT, TEXT])
  const record = await lastRecord(key)
  assert.equal(record.basis, 'usage')
  assert.equal(record.lines.length, 2)
})

test('the vendor gets the exact file, with its own model and key and a plain name', async () => {
  const { openai, speak } = await setUp()
  const file = await speak('mp3')
  await openai.audio.transcriptions.create({ file, model: 'sim-whisper', language: 'EN-us' })
  const call = gateway.simulators.calls.list().at(-1)
  const body = Buffer.from(call?.body_base64 ?? '', 'base64')
  assert.ok(body.includes(Buffer.from(await file.arrayBuffer())))
  assert.ok(body.includes('filename="audio.mp3"'))
  assert.ok(body.includes('name="language"\r\n\r\nen\r\n'))
  assert.equal(call?.headers.authorization, 'Bearer sim-openai-key')
  assert.equal(call?.headers['content-length'], String(body.length))
})

test('400: invalid fields, in the envelope of the SDKs', async () => {
  const { key, speak } = await setUp()
  const file = await speak('wav')
  for (const [name, value, message] of [
    ['response_format', 'xml', /^response_format: /],
    ['temperature', '2', /^temperature: a number between 0 and 1/],
    ['language', '../x', /^language: /],
    ['timestamp_granularities[]', 'line', /^timestamp_granularities\[\]: /],
    ['stream', 'yes', /^stream: /],
    ['file', 'not audio', /could not be decoded/],
  ] as const) {
    const form = new FormData()
    form.set('model', 'sim-whisper')
    form.set('file', file)
    if (name === 'file') form.set('file', new Blob([value]), 'a.mp3')
    else form.set(name, value)
    const headers = { authorization: `Bearer ${key}` }
    const response = await gateway.fetch(PATH, { method: 'POST', headers, body: form })
    const body = (await response.json()) as { error: { message: string; type: string } }
    assert.equal(response.status, 400, JSON.stringify(body))
    assert.match(body.error.message, message)
    assert.equal(body.error.type, 'invalid_request_error')
  }
})

test('400 without a model or a file, 404 for a model that does not exist, 401, 413, 415', async () => {
  const { key } = await setUp()
  const send = async (fields: Record<string, string | Blob>, authorization = `Bearer ${key}`) => {
    const form = new FormData()
    for (const [name, value] of Object.entries(fields)) form.set(name, value)
    const init = { method: 'POST', headers: { authorization }, body: form }
    return (await gateway.fetch(PATH, init)).status
  }
  const file = new Blob([Buffer.alloc(100)])
  assert.equal(await send({ file }), 400)
  assert.equal(await send({ model: 'sim-whisper' }), 400)
  assert.equal(await send({ model: 'no-such-model', file }), 404)
  assert.equal(await send({ model: 'sim-chat', file }), 400)
  assert.equal(await send({ model: 'sim-whisper', file }, 'Bearer x'), 401)
  const large = new Blob([Buffer.alloc(25 * 1024 * 1024 + 1)])
  assert.equal(await send({ model: 'sim-whisper', file: large }), 413)
  assert.equal((await gateway.post(PATH, key, { model: 'sim-whisper' })).status, 415)
})

for (const fault of ['status=500', 'reset-before-head', 'cut-after-bytes=5']) {
  test(`a vendor that fails (${fault}) costs nothing`, async () => {
    const { key, accountId, openai, speak } = await setUp()
    const file = await speak('wav')
    const before = await gateway.balance(accountId)
    const order = { file, model: 'sim-whisper', prompt: `[[fault:${fault}]]` }
    await assert.rejects(openai.audio.transcriptions.create(order), /502/)
    assert.equal((await lastRecord(key)).status, 'failed')
    assert.deepEqual(await gateway.balance(accountId), before)
  })
}

testCommonStatuses(() => gateway, {
  path: PATH,
  body: { model: 'sim-whisper' },
  form: { file: makeWav(500), bytesMax: 25 * 1024 * 1024 },
  model: 'sim-whisper',
  envelope: 'nested',
  withWords: (words) => ({ model: 'sim-whisper', prompt: words }),
  withModel: (model) => ({ path: PATH, body: { model } }),
})

test('no field names another model or another recording', async () => {
  const { key } = await gateway.tenant()
  const wav = makeWav(Buffer.alloc(3200))
  for (const name of [
    'mo"del',
    'Model',
    'model[]',
    'MODEL',
    'url',
    'file_url',
    'file',
    'a b',
    '',
  ]) {
    const answer = await sendForm(
      key,
      [
        ['model', 'sim-whisper'],
        [name, 'dear'],
      ],
      wav,
    )
    assert.equal(answer.status, 400, `${name}: ${answer.status}`)
  }
  const plain = await sendForm(
    key,
    [
      ['model', 'sim-whisper'],
      ['chunking_strategy', 'auto'],
    ],
    wav,
  )
  assert.equal(plain.status, 200)
})

test('a form with a repeated field before its file is refused at once', async () => {
  const { key } = await gateway.tenant()
  const fields = [
    ['model', 'sim-whisper'],
    ['model', 'dear'],
  ] as const
  const answer = await sendForm(key, fields, makeWav(Buffer.alloc(100_000)))
  assert.equal(answer.status, 400)
  assert.match(await answer.text(), /model: given more than once/)
})

/** Writes the form verbatim, with names escaped as forms do. */
function sendForm(key: string, fields: readonly (readonly [string, string])[], file: Buffer) {
  const part = (head: string) => `--b\r\ncontent-disposition: form-data; name=${head}\r\n\r\n`
  const texts = fields.map(([name, value]) => `${part(JSON.stringify(name))}${value}\r\n`)
  const head = Buffer.from(`${texts.join('')}${part('"file"; filename="a.wav"')}`)
  const body = Buffer.concat([head, file, Buffer.from('\r\n--b--\r\n')])
  const headers = { 'content-type': 'multipart/form-data; boundary=b' }
  return gateway.fetch(PATH, { key, method: 'POST', headers, body: new Uint8Array(body) })
}

test('empty fields are not set: nothing of them reaches the vendor', async () => {
  const { key } = await gateway.tenant()
  const form = new FormData()
  form.set('model', 'sim-whisper')
  const empty = ['language', 'prompt', 'response_format', 'temperature', 'stream', 'made_up']
  for (const name of empty) form.set(name, '')
  form.set('file', new Blob([new Uint8Array(makeWav(Buffer.alloc(3_200)))]), 'a.wav')
  const answer = await gateway.fetch(PATH, { method: 'POST', body: form, key })
  assert.equal(answer.status, 200, await answer.text())
  const [call] = gateway.simulators.calls.list().slice(-1)
  const sent = Buffer.from(call?.body_base64 ?? '', 'base64').toString('latin1')
  for (const name of empty) {
    assert.ok(!sent.includes(`name="${name}"\r\n\r\n\r\n`), name)
  }
  form.set('model', '')
  const nameless = await gateway.fetch(PATH, { method: 'POST', body: form, key })
  assert.equal(nameless.status, 400)
  assert.match(await nameless.text(), /model field is required/)
})
