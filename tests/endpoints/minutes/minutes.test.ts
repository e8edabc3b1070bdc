/** POST and GET /v1/audio/minutes, black box: both products, every rule, money, the webhook. */
import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import { startTestGateway, type Tenant, type TestGateway } from '../../support/in-process.ts'
import { startServer } from '../../support/servers/local-server.ts'
import { until } from '../../support/until.ts'
import { QUICK } from '../../tasks/stage.ts'
import { startReceiver } from '../../webhooks/support.ts'
import { testCommonStatuses } from '../common-statuses.ts'

const PATH = '/v1/audio/minutes'
const FAST = 'queue-time=20;run-time=20'

/** The URL contains directives: with a length in it, the simulated vendor does not fetch it. */
const fileOf = (seconds: number, fault = '') =>
  `https://media.example/meeting.mp3?x=${scripted(seconds, fault)}`
const scripted = (seconds: number, fault = '') =>
  `[[fault:${[`media-seconds=${seconds}`, FAST, fault].join(';')}]]`
const ALL = { model: 'vendor-minutes', all_activate: true, file_url: fileOf(25) }

const summarised = (model: string | undefined) => ({
  id: 'minutes-held',
  type: 'minutes',
  prices: [
    { unit: 'second', per: 3600, amount: '3.6' },
    { unit: 'input_token', per: 1, amount: '0.1' },
    { unit: 'output_token', per: 1, amount: '1' },
  ],
  routes: [{ channel: 'held', upstream_model: 'volc.seedasr.auc' }],
  details: model === undefined ? {} : { summary_model: model },
})

/** A vendor of recognition whose tasks run until `finish` is called. */
async function startRecogniser(t: TestContext) {
  let code = 20000001
  const body = { audio_info: { duration: 10_000 }, result: { text: 'x', utterances: [] } }
  const server = await startServer((request, response) => {
    request.resume()
    const isQuery = request.url?.endsWith('/query') ?? false
    response.setHeader('X-Api-Status-Code', isQuery ? code : 20000000)
    response.end(isQuery ? JSON.stringify(body) : '')
  })
  t.after(server.stop)
  return {
    url: server.url,
    finish: () => {
      code = 20000000
    },
  }
}

describe(PATH, () => {
  let gateway: TestGateway
  before(async () => {
    gateway = await startTestGateway({ ...QUICK, ALLOW_PRIVATE_TARGETS: 'true' })
  })
  after(() => gateway.stop())

  const create = (tenant: Tenant, body: object) => gateway.post(PATH, tenant.key, body)
  const ended = (tenant: Tenant, id: string) =>
    until(`the end of ${id}`, async () => {
      const { json } = await gateway.get(`${PATH}/${id}`, tenant.key)
      return json.status === 'processing' ? undefined : json
    })

  test('vendor-minutes: created, polled, done, billed by the second', async () => {
    const tenant = await gateway.tenant()
    const created = await create(tenant, ALL)
    assert.equal(created.status, 200, created.text)
    const { id, created_at: createdAt, ...rest } = created.json
    const requestId = created.headers.get('x-request-id')
    assert.deepEqual(rest, { request_id: requestId, model: 'vendor-minutes', status: 'processing' })
    assert.match(id, /^task_/)
    assert.ok(Date.parse(createdAt) > 0)
    const done = await ended(tenant, id)
    assert.equal(done.status, 'succeeded')
    assert.equal(done.duration, 25)
    assert.deepEqual(Object.keys(done.result).sort(), [
      'chapters',
      'questions',
      'sentences',
      'summary',
      'text',
      'todos',
      'translation',
    ])
    assert.deepEqual(Object.keys(done.result.sentences[0]).sort(), [
      'end_ms',
      'speaker',
      'start_ms',
      'text',
    ])
    const record = await gateway.record(created, tenant.key)
    assert.deepEqual(
      [record.basis, record.held, record.charged],
      ['usage', '7.2', '0.025'],
      'held for two hours, charged for 25 seconds',
    )
    assert.deepEqual(
      record.lines.map(({ unit, quantity }) => [unit, quantity]),
      [['second', 25]],
    )
  })

  test('each single feature: only requested ones are in the result', async () => {
    const tenant = await gateway.tenant()
    for (const [requested, expected] of [
      [{ summary: true }, 'summary'],
      [{ chapters: true }, 'chapters'],
      [{ todos: true }, 'todos'],
      [{ questions: true }, 'questions'],
      [{ qa: true }, 'questions'],
      [{ translate: true, target_lang: 'en_us' }, 'translation'],
    ] as const) {
      const body = { model: 'vendor-minutes', file_url: fileOf(12), features: requested }
      const created = await create(tenant, body)
      assert.equal(created.status, 200, created.text)
      const { result } = await ended(tenant, created.json.id)
      const parts = Object.keys(result).filter((name) => !['text', 'sentences'].includes(name))
      assert.deepEqual(parts, [expected])
    }
  })

  test('service-minutes: the recording by seconds and its summary by tokens', async () => {
    const tenant = await gateway.tenant()
    const created = await create(tenant, { model: 'service-minutes', file_url: fileOf(31) })
    assert.equal(created.status, 200, created.text)
    const done = await ended(tenant, created.json.id)
    assert.equal(done.status, 'succeeded')
    const { sentences, summary, chapters } = done.result
    assert.deepEqual(new Set(sentences.map((one: { speaker: string }) => one.speaker)).size, 2)
    assert.ok(summary.length > 0)
    assert.deepEqual([chapters[0].start_ms, chapters.at(-1).end_ms], [0, 31_000])
    const record = await gateway.record(created, tenant.key)
    const lines = new Map(record.lines.map(({ unit, quantity }) => [unit, quantity]))
    assert.equal(lines.get('second'), 31)
    assert.ok((lines.get('input_token') ?? 0) > 50)
    assert.ok((lines.get('output_token') ?? 0) > 0)
    assert.equal((await gateway.balance(tenant.accountId)).held, 0n)
  })

  test('word timestamps are returned on request', async () => {
    const tenant = await gateway.tenant()
    for (const model of ['vendor-minutes', 'service-minutes']) {
      const body = { ...ALL, model, need_word_time_series: true, hot_words: 'Tributary, ledger' }
      const created = await create(tenant, body)
      const { result } = await ended(tenant, created.json.id)
      assert.ok(result.sentences[0].words.length > 0, model)
      assert.deepEqual(Object.keys(result.sentences[0].words[0]).sort(), [
        'end_ms',
        'start_ms',
        'text',
      ])
    }
  })

  test('languages are folded to the two that the vendor knows', async () => {
    const tenant = await gateway.tenant()
    const features = { translate: true, target_lang: 'ZH-Hans' }
    const order = { model: 'vendor-minutes', file_url: fileOf(5), source_lang: 'en-GB', features }
    const answer = await create(tenant, order)
    assert.equal(answer.status, 200, answer.text)
    const bodies = gateway.simulators.calls.list().map(({ body_base64: text }) => {
      return Buffer.from(text, 'base64').toString()
    })
    const { Params } = JSON.parse(bodies.findLast((text) => text.includes('SourceLang')) ?? '{}')
    assert.deepEqual([Params.SourceLang, Params.TranslationParams.TargetLang], ['en_us', 'zh_cn'])
  })

  test('400 for every field outside its range, and nothing is held', async () => {
    const tenant = await gateway.tenant()
    const before = await gateway.balance(tenant.accountId)
    for (const [change, message] of [
      [{ file_url: undefined }, 'file_url: required'],
      [{ file_url: 'ftp://media.example/a.mp3' }, 'file_url: must be an http(s) URL'],
      [{ file_url: 'a.mp3' }, 'file_url: must be an http(s) URL'],
      [{ file_type: 'text' }, /^file_type: /],
      [{ source_lang: 'fr_fr' }, /^source_lang: /],
      [{ all_activate: 'yes' }, 'all_activate: must be true or false'],
      [{ speaker_identification: 1 }, 'speaker_identification: must be true or false'],
      [{ number_of_speakers: -1 }, /^number_of_speakers: /],
      [{ number_of_speakers: 1.5 }, /^number_of_speakers: /],
      [{ hot_words: ['a'] }, 'hot_words: must be a string'],
      [{ need_word_time_series: 1 }, 'need_word_time_series: must be true or false'],
      [{ features: { translate: true, target_lang: 'de' } }, /^features.target_lang: /],
      [{ callback_url: 'nonsense' }, /^callback_url: /],
      [{ all_activate: false }, /^features: turn on at least one of summary, /],
      [{ all_activate: false, features: {} }, /^features: turn on at least one of /],
      [{ all_activate: false, features: { summary: false } }, /^features: turn on at least /],
    ] as const) {
      const answer = await create(tenant, { ...ALL, ...change })
      assert.equal(answer.status, 400, JSON.stringify(change))
      assert.equal(answer.json.type, 'invalid_request_error')
      if (typeof message === 'string') assert.equal(answer.json.error, message)
      else assert.match(answer.json.error, message)
    }
    assert.deepEqual(await gateway.balance(tenant.accountId), before)
  })

  test('a missing file or one of 1 GB is refused before the hold; HEAD is optional', async (t) => {
    let length = 1024 ** 3
    const server = await startServer((_request, response) => {
      response.writeHead(length < 0 ? 405 : 200, { 'content-length': Math.max(length, 0) }).end()
    })
    t.after(server.stop)
    const body = { ...ALL, file_url: `${server.url}/a.wav?x=${scripted(3)}` }
    const tenant = await gateway.tenant()
    const large = await create(tenant, body)
    assert.equal(large.status, 400, large.text)
    assert.match(large.json.error, /^file_url: the file has 1073741824 bytes; .* 1 GB$/)
    length = 0
    assert.equal((await create(tenant, body)).json.error, 'file_url: the file is empty')
    assert.deepEqual((await gateway.get('/v1/usage', tenant.key)).json.data, [])
    length = 1024 ** 3 - 1
    assert.equal((await create(tenant, body)).status, 200)
    length = -1
    assert.equal((await create(tenant, body)).status, 200)
  })

  test('an unusable recording fails the task with its reason, at no cost', async () => {
    const tenant = await gateway.tenant()
    for (const [model, seconds, words, message] of [
      ['vendor-minutes', 7201, '', /longer than two hours/],
      ['vendor-minutes', 0, '', /empty/],
      ['vendor-minutes', 10, 'fail-task=4808', /format .* not supported/],
      ['service-minutes', 0, '', /empty/],
      ['service-minutes', 10, 'fail-task=45000151', /format .* not supported/],
    ] as const) {
      const created = await create(tenant, { ...ALL, model, file_url: fileOf(seconds, words) })
      assert.equal(created.status, 200, created.text)
      const done = await ended(tenant, created.json.id)
      assert.equal(done.status, 'failed', model)
      assert.match(done.error.message, message)
      const record = await gateway.record(created, tenant.key)
      assert.deepEqual([record.status, record.charged], ['failed', '0'])
    }
    const refused = await create(tenant, { ...ALL, file_url: fileOf(3, 'moderation') })
    assert.equal(refused.status, 400, refused.text)
    assert.equal((await gateway.balance(tenant.accountId)).held, 0n)
  })

  test('a failed summary is not charged, and the transcription is returned', async () => {
    const tenant = await gateway.tenant()
    await gateway.apply(
      {
        channels: [],
        models: [
          {
            id: 'minutes-broken',
            type: 'minutes',
            prices: [
              { unit: 'second', per: 3600, amount: '3.6' },
              { unit: 'output_token', per: 1, amount: '1' },
            ],
            routes: [{ channel: 'sim-recognition', upstream_model: 'volc.seedasr.auc' }],
            details: { summary_model: 'no-such-model' },
          },
        ],
      },
      'broken',
    )
    const rich = await gateway.tenant({ balance: '100000' })
    const created = await create(rich, { model: 'minutes-broken', file_url: fileOf(10) })
    assert.equal(created.status, 200, created.text)
    const { status, result } = await ended(rich, created.json.id)
    assert.deepEqual([status, result.summary_model_error], ['succeeded', 'no_model'])
    assert.equal(result.summary, undefined)
    const record = await gateway.record(created, rich.key)
    assert.equal(record.charged, '0.01')
    assert.equal((await gateway.balance(tenant.accountId)).held, 0n)
  })

  for (const [change, models] of [
    ['its model names no summary any more', [summarised(undefined)]],
    ['its model is retired', []],
  ] as const) {
    test(`a summary is not charged when ${change} while it runs`, async (t) => {
      const vendor = await startRecogniser(t)
      const channels = [
        {
          id: 'held',
          upstream: 'doubao-recognition',
          settings: { base_url: vendor.url, api_key: 'k' },
        },
      ]
      await gateway.apply({ channels, models: [summarised('a-model')] }, 'held')
      const tenant = await gateway.tenant({ balance: '100000' })
      const body = { model: 'minutes-held', file_url: fileOf(10) }
      const created = await create(tenant, body)
      assert.equal(created.status, 200, created.text)
      await gateway.apply({ channels, models }, 'held')
      vendor.finish()
      const { result } = await ended(tenant, created.json.id)
      assert.equal(result.summary_model_error, 'no_model')
      const record = await gateway.record(created, tenant.key)
      assert.deepEqual([record.basis, record.charged], ['usage', '0.01'])
    })
  }

  test('a summary whose upstream states no usage is charged by what it said', async () => {
    const tenant = await gateway.tenant()
    const silent = { operation: 'chat.completions', times: 1, scenario: 'usage=absent' }
    const fault = { method: 'POST', body: JSON.stringify(silent) }
    assert.equal((await fetch(`${gateway.simulators.url}/sim/faults`, fault)).status, 200)
    const created = await create(tenant, { model: 'service-minutes', file_url: fileOf(31) })
    const { result } = await ended(tenant, created.json.id)
    assert.ok(result.summary.length > 0)
    const record = await gateway.record(created, tenant.key)
    const lines = new Map(record.lines.map(({ unit, quantity }) => [unit, quantity]))
    assert.equal(lines.get('second'), 31, 'what is known stays as it was stated')
    assert.ok((lines.get('input_token') ?? 0) > 50)
    assert.ok((lines.get('output_token') ?? 0) > 0)
    assert.deepEqual([record.basis, record.review], ['params', false])
  })

  test('the webhook has the result without word timestamps', async (t) => {
    const receiver = await startReceiver(t)
    const tenant = await gateway.tenant()
    const more = { need_word_time_series: true, callback_url: receiver.url }
    const created = await create(tenant, { ...ALL, ...more })
    const got = await until('the webhook', () => receiver.received[0])
    const payload = JSON.parse(got.body.toString())
    assert.deepEqual(Object.keys(payload), [
      'task_id',
      'kind',
      'status',
      'model',
      'duration',
      'result',
      'created_at',
      'finished_at',
      'charged',
      'currency',
    ])
    assert.deepEqual([payload.task_id, payload.kind], [created.json.id, 'minutes'])
    assert.equal(payload.result.sentences[0].words, undefined)
  })

  test('404, the same for foreign, unknown and malformed ids', async () => {
    const tenant = await gateway.tenant()
    const created = await create(await gateway.tenant(), ALL)
    for (const id of [
      created.json.id,
      'task_0000000000000000000000',
      'ü',
      '%ff',
      'x'.repeat(5000),
    ]) {
      const answer = await gateway.get(`${PATH}/${encodeURIComponent(id)}`, tenant.key)
      assert.equal(answer.status, 404, id)
      assert.deepEqual(answer.json, { error: 'no such task', type: 'not_found_error' })
    }
  })

  test('the endpoint does not exist on other sites', async () => {
    const abroad = await startTestGateway({ SITE: 'global' })
    try {
      const { key } = await abroad.tenant()
      const created = await abroad.post(PATH, key, ALL)
      assert.deepEqual(
        [created.status, created.json.error],
        [404, 'no such path: GET /docs lists all'],
      )
      assert.equal((await abroad.get(`${PATH}/task_1`, key)).status, 404)
      assert.deepEqual((await abroad.get('/v1/models?type=minutes', key)).json.data, [])
      assert.equal((await abroad.get('/v1/models/vendor-minutes', key)).status, 404)
      assert.ok((await abroad.get('/v1/models?type=video', key)).json.data.length > 0)
    } finally {
      await abroad.stop()
    }
  })

  testCommonStatuses(() => gateway, {
    path: PATH,
    body: ALL,
    other: { number_of_speakers: 2 },
    model: 'vendor-minutes',
    envelope: 'flat',
    failure: 'status=503',
    withWords: (words) => ({ ...ALL, file_url: fileOf(5, words.replace(/^.*:|\]+$/g, '')) }),
    withModel: (model) => ({ path: PATH, body: { ...ALL, model } }),
  })
})
