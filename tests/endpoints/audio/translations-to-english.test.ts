/** POST /v1/audio/translations in OpenAI's own form, told apart by the model. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import OpenAI, { toFile } from 'openai'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { makeSamples, makeWav } from '../../support/wav.ts'

const PATH = '/v1/audio/translations'
const TEXT = 'All rivers run. Into the sea!'

let gateway: TestGateway
before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

async function setUp() {
  const { key, accountId } = await gateway.tenant()
  const openai = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  const speak = async (response_format: 'mp3' | 'wav') => {
    const order = { model: 'sim-tts', voice: 'alloy', input: TEXT, response_format } as const
    const answer = await openai.audio.speech.create(order)
    return Buffer.from(await answer.arrayBuffer())
  }
  return { key, accountId, openai, speak }
}

async function lastRecord(key: string) {
  const list = await gateway.get('/v1/usage?limit=1&endpoint=audio.translations', key)
  return (await gateway.get(`/v1/usage/${list.json.data[0].request_id}`, key)).json
}

async function send(key: string, parts: readonly (readonly [string, string | Buffer])[]) {
  const body = new FormData()
  for (const [name, part] of parts) {
    if (typeof part === 'string') body.append(name, part)
    else body.append(name, new Blob([new Uint8Array(part)]), 'a.bin')
  }
  const response = await gateway.fetch(PATH, { method: 'POST', key, body })
  return { status: response.status, text: await response.text() }
}

for (const model of ['sim-whisper', 'sim-whisper-tokens']) {
  for (const format of ['mp3', 'wav'] as const) {
    test(`${model}: English of ${format}, charged as the vendor bills`, async () => {
      const { key, openai, speak } = await setUp()
      const content = await speak(format)
      const file = await toFile(content, `a.${format}`)
      const { text } = await openai.audio.translations.create({ file, model, prompt: 'rivers' })
      assert.equal(text, `en ${TEXT}`)
      const record = await lastRecord(key)
      assert.equal(record.basis, 'usage')
      assert.ok(Number(record.held) >= Number(record.charged))
      await gateway.simulators.book.settled()
      const [booked] = gateway.simulators.book
        .entries({ operation: 'audio.translations' })
        .slice(-1)
      const lines = record.lines.map((line: { unit: string; quantity: number }) => [
        line.unit,
        line.quantity,
      ])
      assert.deepEqual(Object.fromEntries(lines), booked?.units)
      const sent = gateway.simulators.calls.list().at(-1)
      assert.ok(Buffer.from(sent?.body_base64 ?? '', 'base64').includes(content), 'the whole file')
    })
  }
}

test('text without usage is charged by the length in the file, at most the hold', async () => {
  const { key, openai, speak } = await setUp()
  const file = await toFile(await speak('wav'), 'a.wav')
  const order = { file, model: 'sim-whisper', response_format: 'text' } as const
  const text: unknown = await openai.audio.translations.create(order)
  assert.equal(text, `en ${TEXT}\n`)
  const { basis, held, charged } = await lastRecord(key)
  assert.deepEqual([basis, held], ['estimate', charged])
})

test('each kind of model refuses the fields of the other by name, and nothing is held', async () => {
  const { key, accountId } = await setUp()
  const before = await gateway.balance(accountId)
  const wav = makeWav(makeSamples(500))
  for (const [model, field, value] of [
    ['sim-whisper', 'mode', 's2t'],
    ['sim-whisper', 'source_language', 'zh'],
    ['sim-whisper', 'target_language', 'en'],
    ['sim-whisper', 'voice', 'alloy'],
    ['sim-interpretation', 'prompt', 'rivers'],
    ['sim-interpretation', 'response_format', 'json'],
    ['sim-interpretation', 'temperature', '0'],
    ['sim-whisper', 'language', 'en'],
    ['sim-whisper', 'x_unknown', 'y'],
  ] as const) {
    const { status, text } = await send(key, [
      ['file', wav],
      ['model', model],
      [field, value],
    ])
    assert.equal(status, 400, text)
    assert.match(JSON.parse(text).error, new RegExp(`^${field}: `))
  }
  assert.deepEqual(await gateway.balance(accountId), before)
})

test('refusals that the model decides name the field', async () => {
  const { key, speak } = await setUp()
  const mp3 = await speak('mp3')
  const interpreted = await send(key, [
    ['file', mp3],
    ['model', 'sim-interpretation'],
  ])
  assert.equal(interpreted.status, 400)
  assert.match(JSON.parse(interpreted.text).error, /^file: needs wav audio of 16 kHz/)
  const large = await send(key, [
    ['file', Buffer.alloc(26 * 1024 * 1024)],
    ['model', 'sim-whisper'],
  ])
  assert.equal(large.status, 413)
  const elsewhere = await send(key, [
    ['file', mp3],
    ['model', 'sim-recognition'],
  ])
  assert.equal(elsewhere.status, 400)
  assert.match(JSON.parse(elsewhere.text).error, /^model: .*not available on this path/)
})
