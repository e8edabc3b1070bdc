/**
 * POST /v1/audio/transcriptions over recognition 2.0, black box: the vendor fetches the upload from
 * a URL that is valid during the call, or receives it in one request.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import OpenAI, { toFile } from 'openai'
import { findFreePort } from '../../support/free-port.ts'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'
import { makeWav } from '../../support/wav.ts'
import { testCommonStatuses } from '../common-statuses.ts'

const TEXT = 'All rivers run. Into the sea!'
const SUBMIT = 'recognition.submit'
const QUICK = 'queue-time=20;run-time=20'
const FETCHED = 'sim-recognition'
const SENT = 'sim-recognition-turbo'
const OPERATIONS = { [FETCHED]: SUBMIT, [SENT]: 'recognition.flash' }

let gateway: TestGateway
let dataDir: string
before(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'tributary-recognition-'))
  gateway = await startTestGateway({ PORT: String(await findFreePort()), DATA_DIR: dataDir })
})
after(async () => {
  await gateway.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

type Model = typeof FETCHED | typeof SENT
type Format = 'mp3' | 'opus' | 'wav'

async function setUp() {
  const { key, keyId, accountId } = await gateway.tenant()
  const openai = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  const speak = async (response_format: Format, input = TEXT) => {
    const order = { model: 'sim-tts', voice: 'alloy', input, response_format } as const
    const answer = await openai.audio.speech.create(order)
    return toFile(Buffer.from(await answer.arrayBuffer()), `odd "name.${response_format}`)
  }
  return { key, keyId, accountId, openai, speak }
}

const order = (model: Model, file: File, fault = '') => ({
  model,
  file,
  prompt: `[[fault:${[QUICK, fault].filter(Boolean).join(';')}]]`,
})

const lastRecord = async (key: string) => {
  const list = await gateway.get('/v1/usage?limit=1&endpoint=audio.transcriptions', key)
  return (await gateway.get(`/v1/usage/${list.json.data[0].request_id}`, key)).json
}

/** After the answer, the upload must not be public any more, and its bytes must be deleted. */
function assertNothingLeft(accountId: string) {
  return until('the end of the published upload', async () => {
    const rows = await gateway.sql`select id from file where account_id = ${accountId}`
    const stored = readdirSync(join(dataDir, 'files'), { recursive: true })
    const contents = stored.filter((name) => name.length > 3 && name !== 'storage-id')
    return rows.length + contents.length === 0 ? true : undefined
  })
}

/** A recording that the gateway can measure and the vendor refuses. */
function withoutByteRate(): Buffer {
  const wav = makeWav(900)
  wav.writeUInt32LE(0, wav.indexOf('fmt ') + 16)
  return wav
}

for (const model of [FETCHED, SENT] as const) {
  for (const format of ['mp3', 'opus', 'wav'] as const) {
    test(`${model}: the words of ${format}, billed by the vendor's seconds`, async () => {
      const { key, accountId, openai, speak } = await setUp()
      const file = await speak(format)
      const answer = await openai.audio.transcriptions.create(order(model, file))
      assert.equal(answer.text, TEXT)
      const record = await lastRecord(key)
      assert.deepEqual([record.status, record.basis], ['succeeded', 'usage'])
      await gateway.simulators.book.settled()
      const booked = gateway.simulators.book.entries({ operation: OPERATIONS[model] }).at(-1)
      assert.equal(record.lines[0].quantity, booked?.units.second)
      assert.equal((await gateway.balance(accountId)).held, 0n)
      await assertNothingLeft(accountId)
    })
  }

  test(`${model}: text, srt, vtt, verbose_json with both granularities, and a stream`, async () => {
    const { openai, speak } = await setUp()
    const request = order(model, await speak('wav'))
    const ask = async (response_format: 'text' | 'srt' | 'vtt') =>
      String(await openai.audio.transcriptions.create({ ...request, response_format }))
    assert.equal(await ask('text'), `${TEXT}\n`)
    assert.match(
      await ask('srt'),
      /^1\n00:00:00,\d{3} --> 00:00:0\d,\d{3}\nAll rivers run\.\n\n2\n/,
    )
    assert.match(await ask('vtt'), /^WEBVTT\n\n00:00:00\.\d{3} --> .*\nAll rivers run\.\n\n/)
    const verbose = await openai.audio.transcriptions.create({
      ...request,
      response_format: 'verbose_json',
      language: 'en',
      timestamp_granularities: ['word', 'segment'],
    })
    assert.deepEqual(
      verbose.segments?.map(({ id, text }) => [id, text]),
      [
        [0, 'All rivers run.'],
        [1, 'Into the sea!'],
      ],
    )
    assert.deepEqual(
      verbose.words?.map(({ word }) => word),
      ['All', 'rivers', 'run.', 'Into', 'the', 'sea!'],
    )
    assert.ok(verbose.words?.every(({ start, end }) => start <= end && end <= verbose.duration))
    assert.equal(verbose.language, 'en')
    const deltas: string[] = []
    for await (const event of await openai.audio.transcriptions.create({
      ...request,
      stream: true,
    })) {
      if (event.type === 'transcript.text.delta') deltas.push(event.delta)
      if (event.type === 'transcript.text.done') assert.equal(event.text, TEXT)
    }
    assert.deepEqual([deltas.length, deltas.join('')], [2, TEXT])
  })

  test(`${model}: a mistake of the caller is a 400 with its reason, and costs nothing`, async () => {
    const { key, accountId, openai, speak } = await setUp()
    const wav = await speak('wav')
    const before = await gateway.balance(accountId)
    const cases: readonly [object, RegExp][] = [
      [order(model, await toFile(Buffer.from('nothing'), 'a.mp3')), /found no known audio format/],
      [order(model, await toFile(Buffer.from('fLaC and more'), 'a.wav')), /Ogg Opus; found flac$/],
      [{ ...order(model, wav), language: 'ru' }, /this model understands zh, en, .*; not ru$/],
      [{ ...order(model, wav), response_format: 'diarized_json' }, /does not tell speakers apart/],
      [order(model, await toFile(withoutByteRate(), 'a.wav')), /format .* not sup/],
      [order(model, await toFile(makeWav(0), 'a.wav')), /the recording is empty/],
    ]
    for (const [request, message] of cases) {
      const create = openai.audio.transcriptions.create(request as ReturnType<typeof order>)
      await assert.rejects(create, (error) => {
        assert.ok(error instanceof OpenAI.BadRequestError, String(error))
        assert.match(error.message, message)
        return true
      })
    }
    assert.equal((await lastRecord(key)).status, 'failed')
    assert.deepEqual(await gateway.balance(accountId), before)
    await assertNothingLeft(accountId)
  })

  test(`${model}: silence is an empty text, free of charge`, async () => {
    const { key, openai } = await setUp()
    const file = await toFile(makeWav(Buffer.alloc(64_000)), 'silence.wav')
    const answer = await openai.audio.transcriptions.create(order(model, file))
    assert.equal(answer.text, '')
    const record = await lastRecord(key)
    assert.deepEqual([record.status, record.charged], ['succeeded', '0'])
  })

  for (const fault of ['status=500', 'status=401', 'error-200;error-code=55000031']) {
    test(`${model}: a vendor that refuses (${fault}) costs nothing`, async () => {
      const { key, accountId, openai, speak } = await setUp()
      const file = await speak('wav')
      const before = await gateway.balance(accountId)
      await assert.rejects(openai.audio.transcriptions.create(order(model, file, fault)), /502/)
      assert.equal((await lastRecord(key)).status, 'failed')
      assert.deepEqual(await gateway.balance(accountId), before)
      await assertNothingLeft(accountId)
    })
  }
}

test('the vendor reads a secret public URL with the right file type', async () => {
  const { key, accountId, openai, speak } = await setUp()
  const file = await speak('mp3')
  await openai.audio.transcriptions.create({ ...order(FETCHED, file), language: 'ja-JP' })
  const sent = gateway.simulators.calls.list().filter(({ operation }) => operation === SUBMIT)
  const call = sent.at(-1)
  const { audio, request } = JSON.parse(Buffer.from(call?.body_base64 ?? '', 'base64').toString())
  assert.deepEqual([audio.format, audio.language], ['mp3', 'ja-JP'])
  assert.equal(request.show_utterances, true)
  const pattern = new RegExp(`^${gateway.url}/files/[A-Za-z0-9]{40}/audio\\.mp3$`)
  assert.match(audio.url, pattern)
  await assertNothingLeft(accountId)
  assert.equal((await fetch(audio.url)).status, 404, 'not any more')
  assert.equal(call?.headers['x-api-key'], 'sim-speech-key')
  assert.equal(call?.headers['x-api-resource-id'], 'volc.seedasr.auc')
  assert.deepEqual((await gateway.get('/v1/files', key)).json.data, [])
})

test('during the call its file is public, but not a file of the account', async () => {
  const { key, accountId, openai, speak } = await setUp()
  const file = await speak('wav')
  const request = { model: FETCHED, file, prompt: '[[fault:queue-time=20;run-time=4000]]' }
  const answering = openai.audio.transcriptions.create(request)
  const row = await until('the published upload', async () => {
    const [one] = await gateway.sql<{ id: string; token: string; expires_at: Date }[]>`
      select id, token, expires_at from file where account_id = ${accountId}`
    return one
  })
  assert.ok(row.expires_at.getTime() - Date.now() < 3_600_000, 'what a crash leaves is short-lived')
  const read = await fetch(`${gateway.url}/files/${row.token}/audio.wav`)
  assert.deepEqual(Buffer.from(await read.arrayBuffer()), Buffer.from(await file.arrayBuffer()))
  assert.deepEqual((await gateway.get('/v1/files', key)).json.data, [])
  assert.equal((await gateway.get(`/v1/files/${row.id}`, key)).status, 404)
  assert.equal((await gateway.get('/v1/storage', key)).json.stored_bytes ?? 0, 0)
  assert.equal((await answering).text, TEXT)
  await assertNothingLeft(accountId)
})

test('a submission whose answer is lost is found by its id, never sent again', async () => {
  for (const fault of ['lost-answer=502', 'lost-answer=504', 'reset-before-head']) {
    const { key, openai, speak } = await setUp()
    const file = await speak('wav')
    const count = () =>
      gateway.simulators.calls.list().filter(({ operation }) => operation === SUBMIT).length
    const before = count()
    const answer = await openai.audio.transcriptions.create(order(FETCHED, file, fault))
    assert.equal(answer.text, TEXT)
    assert.equal(count(), before + 1)
    assert.equal((await lastRecord(key)).attempts.length, 1)
  }
})

test('a lost submission unknown to the vendor is polled, then failed, never resent', async () => {
  const { key, accountId, openai, speak } = await setUp()
  const file = await speak('wav')
  const before = await gateway.balance(accountId)
  const sent = gateway.simulators.calls.list().filter(({ operation }) => operation === SUBMIT)
  const failing = openai.audio.transcriptions.create(order(FETCHED, file, 'status=504'))
  await assert.rejects(failing, /502/)
  const { attempts } = await lastRecord(key)
  assert.deepEqual(
    attempts.map(({ outcome }: { outcome: string }) => outcome),
    ['unknown'],
  )
  const after = gateway.simulators.calls.list().filter(({ operation }) => operation === SUBMIT)
  assert.equal(after.length, sent.length + 1)
  assert.deepEqual(await gateway.balance(accountId), before)
  await assertNothingLeft(accountId)
})

test('failed polls are retried; a task whose polls always fail is a 502', async () => {
  const { key, accountId, openai, speak } = await setUp()
  const file = await speak('wav')
  for (const fault of ['poll-errors=2', 'poll-storm=2']) {
    const answer = await openai.audio.transcriptions.create(order(FETCHED, file, fault))
    assert.equal(answer.text, TEXT)
  }
  const before = await gateway.balance(accountId)
  const failing = openai.audio.transcriptions.create(order(FETCHED, file, 'fail-task=55000000'))
  await assert.rejects(failing, /502/)
  assert.equal((await lastRecord(key)).attempts[0].outcome, 'unknown')
  assert.deepEqual(await gateway.balance(accountId), before)
})

for (const model of [FETCHED, SENT] as const) {
  test(`${model}: without a stated length, that of the header is charged`, async () => {
    const { key, openai, speak } = await setUp()
    const file = await speak('wav')
    await openai.audio.transcriptions.create(order(model, file, 'usage=absent'))
    const { basis, lines } = await lastRecord(key)
    assert.deepEqual([basis, lines[0].unit, lines[0].quantity], ['estimate', 'second', 2])
  })
}

test('a gateway that stops does not wait for recognition, and releases the hold', async () => {
  const own = await startTestGateway({ PORT: String(await findFreePort()) })
  const { key, keyId } = await own.tenant()
  const form = new FormData()
  form.set('model', FETCHED)
  form.set('prompt', '[[fault:queue-time=10;run-time=60000]]')
  form.set('file', new Blob([new Uint8Array(makeWav(500))]), 'a.wav')
  const request = own.fetch('/v1/audio/transcriptions', { method: 'POST', key, body: form })
  await until('the submission', () =>
    own.simulators.calls.list().find(({ operation }) => operation === SUBMIT),
  )
  // Ends the published upload and the hold before the database stops; `stop` below runs the audit.
  const released = until('the release', async () => {
    const [row] = await own.sql<{ status: string; charged: bigint }[]>`
      select status, charged from call where key_id = ${keyId} and status <> 'running'`
    return row
  })
  const stopped = own.gateway.stop({ drainMs: 0 })
  const [row, answer] = await Promise.all([released, request, stopped])
  assert.deepEqual([row.status, row.charged], ['failed', 0n])
  assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '1'])
  await own.stop()
})

test('a file with a false length is charged by its stated usage, up to its ceiling', async () => {
  const { key, openai } = await setUp()
  // 640,044 bytes: twice their time at the slowest rate, and half a day.
  const file = await toFile(makeWav(20_000), 'a.wav')
  const ceiling = 44_481
  for (const [seconds, charged] of [
    [600, 600],
    [ceiling, ceiling],
    [ceiling + 1, ceiling],
    [86_400, ceiling],
  ] as const) {
    await openai.audio.transcriptions.create(order(FETCHED, file, `media-seconds=${seconds}`))
    const record = await lastRecord(key)
    assert.equal(record.review, seconds > ceiling)
    assert.equal(record.lines[0].quantity, charged)
    assert.equal(record.charged, record.lines[0].amount)
  }
})

test('a file that the vendor cannot fetch is a channel fault', async () => {
  const { openai, speak } = await setUp()
  const file = await speak('wav')
  const failing = openai.audio.transcriptions.create(order(FETCHED, file, 'fail-task=45000006'))
  await assert.rejects(failing, /502/)
})

for (const model of [FETCHED, SENT] as const) {
  const body = (fault = '') => ({ model, prompt: order(model, new File([], ''), fault).prompt })
  testCommonStatuses(() => gateway, {
    path: '/v1/audio/transcriptions',
    body: body(),
    form: { file: makeWav(500), bytesMax: 25 * 1024 * 1024 },
    model,
    envelope: 'nested',
    withWords: (words) => ({ model, prompt: words }),
    withModel: (other) => ({ path: '/v1/audio/transcriptions', body: { ...body(), model: other } }),
  })
}
