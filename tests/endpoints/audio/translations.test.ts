/** POST /v1/audio/translations, black box: every field, charges and refusals. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  type Booth,
  FILE,
  type FormEntry,
  MODEL,
  openBooth,
  ROUTE,
  TO_SPEECH,
  TO_TEXT,
} from '../../support/interpretation.ts'
import { makeSamples, makeWav } from '../../support/wav.ts'
import { testCommonStatuses } from '../common-statuses.ts'

let booth: Booth
before(async () => {
  booth = await openBooth()
})
after(() => booth.stop())

const SENTENCES = { text: 'Sentence 1. Sentence 2.', source_text: '第1句。第2句。' }

test('s2t is the default: JSON with both texts, charged by the upstream’s tokens', async () => {
  const { key, accountId } = await booth.gateway.tenant()
  const answer = await booth.ask(key, TO_TEXT)
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.headers.get('content-type'), 'application/json')
  assert.deepEqual(answer.json, SENTENCES)
  const record = await booth.gateway.record(answer, key)
  assert.equal(record.basis, 'usage')
  assert.deepEqual(
    record.lines.map(({ unit, quantity }) => [unit, quantity]),
    [
      ['input_token', 25],
      ['output_token', 20],
    ],
  )
  assert.equal((await booth.gateway.balance(accountId)).held, 0n)
})

test('the vendor gets the exact samples, with its own credentials', async () => {
  const { key } = await booth.gateway.tenant()
  const samples = makeSamples(1_234)
  await booth.ask(key, [
    ['model', MODEL],
    ['file', makeWav(samples)],
  ])
  const session = booth.vendor.last()
  assert.ok(Buffer.concat(session.audio).equals(samples))
  const sizes = session.audio.map(({ length }) => length)
  assert.deepEqual(new Set(sizes.slice(0, -1)), new Set([2560]))
  assert.equal(session.headers['x-api-key'], 'vendor-key')
  assert.equal(session.headers['x-api-resource-id'], 'volc.service_type.10053')
  assert.equal(session.headers.authorization, undefined)
  assert.equal(session.isFinished, true)
})

test('a file that is cut off is held for and interpreted as far as it goes', async () => {
  const { key } = await booth.gateway.tenant()
  const held = async (file: Buffer) => {
    const answer = await booth.ask(key, [
      ['model', MODEL],
      ['file', file],
    ])
    assert.equal(answer.status, 200, answer.text)
    return (await booth.gateway.record(answer, key)).held
  }
  const samples = makeSamples(3_000)
  const there = samples.subarray(0, 32_000)
  const whole = await held(makeWav(there))
  assert.equal(await held(makeWav(samples).subarray(0, 44 + there.length)), whole)
  assert.ok(Buffer.concat(booth.vendor.last().audio).equals(there))
  const long = makeWav(samples, { long: { id: 'RF64', declared: samples.length } })
  assert.equal(await held(long.subarray(0, 80 + there.length)), whole)
  assert.ok(Buffer.concat(booth.vendor.last().audio).equals(there))
})

test('s2s: Ogg as it is spoken, without a length', async () => {
  const { key } = await booth.gateway.tenant()
  const response = await booth.open(key, TO_SPEECH)
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'audio/ogg')
  assert.equal(response.headers.get('content-length'), null)
  const audio = Buffer.from(await response.arrayBuffer())
  assert.ok(audio.equals(Buffer.concat([Buffer.alloc(4_000, 1), Buffer.alloc(4_000, 2)])))
  const record = await booth.gateway.record(response, key)
  assert.equal(record.basis, 'usage')
  assert.equal(record.status, 'succeeded')
  assert.equal(booth.vendor.last().target, 'ogg_opus')
})

const ORDERS: readonly (readonly [readonly FormEntry[], readonly string[]])[] = [
  [[], ['s2t', 'zhen', 'zhen', '']],
  [
    [
      ['mode', ''],
      ['source_language', ''],
      ['target_language', ''],
    ],
    ['s2t', 'zhen', 'zhen', ''],
  ],
  [[['source_language', 'zh']], ['s2t', 'zh', 'en', '']],
  [[['source_language', 'ja']], ['s2t', 'ja', 'zh', '']],
  [[['target_language', 'zh']], ['s2t', 'en', 'zh', '']],
  [[['source_language', 'zh-CN']], ['s2t', 'zh', 'en', '']],
  [[['source_language', 'ZH']], ['s2t', 'zh', 'en', '']],
  [[['source_language', 'zh_Hant_TW']], ['s2t', 'zh', 'en', '']],
  [[['source_language', 'yue']], ['s2t', 'yue-CN', 'zh', '']],
  [[['target_language', 'en-GB']], ['s2t', 'zh', 'en', '']],
  [[['target_language', 'ja']], ['s2t', 'zh', 'ja', '']],
  [
    [
      ['source_language', 'yue-CN'],
      ['target_language', 'en'],
    ],
    ['s2t', 'yue-CN', 'en', ''],
  ],
  [
    [
      ['mode', 's2t'],
      ['voice', 'a voice'],
    ],
    ['s2t', 'zhen', 'zhen', ''],
  ],
  [
    [
      ['mode', 's2s'],
      ['voice', ''],
    ],
    ['s2s', 'zhen', 'zhen', ''],
  ],
  [
    [
      ['mode', 's2s'],
      ['source_language', 'en'],
      ['target_language', 'de'],
    ],
    ['s2s', 'en', 'de', ''],
  ],
  [
    [
      ['mode', 's2s'],
      ['source_language', 'ko'],
      ['target_language', 'zh'],
      ['voice', 'v1'],
    ],
    ['s2s', 'ko', 'zh', 'v1'],
  ],
]

test('each field and its default as the vendor gets them', async () => {
  const { key } = await booth.gateway.tenant()
  for (const [fields, order] of ORDERS) {
    const answer = await booth.ask(key, [['model', MODEL], ...fields, FILE])
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(booth.vendor.last().order, order, JSON.stringify(fields))
  }
})

test('fields may stand after the file', async () => {
  const { key } = await booth.gateway.tenant()
  const answer = await booth.ask(key, [
    FILE,
    ['source_language', 'fr'],
    ['target_language', 'en'],
    ['model', MODEL],
  ])
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(booth.vendor.last().order, ['s2t', 'fr', 'en', ''])
})

const REFUSALS: readonly (readonly [RegExp, readonly FormEntry[]])[] = [
  [/^model field is required$/, [FILE]],
  [/^model field is required$/, [['model', ''], FILE]],
  [/^mode: s2t \(text\) or s2s/, [['model', MODEL], ['mode', 'text'], FILE]],
  [/^source_language: one of zh, en, /, [['model', MODEL], ['source_language', 'xx'], FILE]],
  [/^source_language: one of zh, en, /, [['model', MODEL], ['source_language', 'zhong'], FILE]],
  [/^target_language: one of zh, en, /, [['model', MODEL], ['target_language', 'yue-CN'], FILE]],
  [
    /^target_language: ja to fr: one of the two must be zh or en$/,
    [['model', MODEL], ['source_language', 'ja'], ['target_language', 'fr'], FILE],
  ],
  [
    /^target_language: is the source language, en, as well$/,
    [['model', MODEL], ['source_language', 'en'], ['target_language', 'en-US'], FILE],
  ],
  [
    /^target_language: zhen must be both languages or neither$/,
    [['model', MODEL], ['source_language', 'zh'], ['target_language', 'zhen'], FILE],
  ],
  [
    /^target_language: a voice speaks zh or en, not ja$/,
    [
      ['model', MODEL],
      ['mode', 's2s'],
      ['source_language', 'zh'],
      ['target_language', 'ja'],
      ['voice', 'v'],
      FILE,
    ],
  ],
  [
    /^source_language: without a voice the speaker is cloned, .* not ko$/,
    [['model', MODEL], ['mode', 's2s'], ['source_language', 'ko'], ['target_language', 'zh'], FILE],
  ],
  [/^voice: at most 256 characters$/, [['model', MODEL], ['voice', 'v'.repeat(257)], FILE]],
  [/^file is required$/, [['model', MODEL]]],
  [
    /^file: is a text: send it as a file, with a filename$/,
    [
      ['model', MODEL],
      ['file', 'not a file'],
    ],
  ],
  [
    /^file: is a text: send it as a file, with a filename$/,
    [
      ['model', MODEL],
      ['file', 'no filename '.repeat(1000)],
    ],
  ],
  [/^the form has more than one file$/, [['model', MODEL], FILE, FILE]],
  [/^the form has more than one file$/, [['model', MODEL], ['other', Buffer.from('x')], FILE]],
  [/^mode: given more than once$/, [['model', MODEL], ['mode', 's2t'], FILE, ['mode', 's2s']]],
  [/^extra: longer than 8192 bytes$/, [['model', MODEL], FILE, ['extra', 'x'.repeat(8_193)]]],
  [
    /^the form has more than 20 fields$/,
    [FILE, ...Array.from({ length: 21 }, (_, index) => [`f${index}`, 'x'] as const)],
  ],
  [
    /^file: needs wav .*; found an empty file$/,
    [
      ['model', MODEL],
      ['file', Buffer.alloc(0)],
    ],
  ],
  [
    /^file: needs wav audio of 16 kHz, mono, 16-bit PCM; found 44.1 kHz, stereo, 24-bit PCM$/,
    [
      ['model', MODEL],
      ['file', makeWav(10, { rate: 44_100, channels: 2, bits: 24 })],
    ],
  ],
  [
    /found an MP3 file$/,
    [
      ['model', MODEL],
      ['file', Buffer.from(`ID3${'x'.repeat(99)}`)],
    ],
  ],
]

test('400 with the reason, before a hold is taken or anything is sent', async () => {
  const { key, accountId } = await booth.gateway.tenant()
  const before = await booth.gateway.balance(accountId)
  const sessions = booth.vendor.sessions.length
  for (const [message, form] of REFUSALS) {
    const answer = await booth.ask(key, form)
    assert.equal(answer.status, 400, `${message}: ${answer.text}`)
    assert.match(answer.json.error, message)
    assert.equal(answer.json.type, 'invalid_request_error')
  }
  assert.equal(booth.vendor.sessions.length, sessions)
  assert.deepEqual(await booth.gateway.balance(accountId), before)
  assert.deepEqual((await booth.gateway.get('/v1/usage', key)).json.data, [])
})

test('a recording over an hour is refused by its header, a body over the cap by its length', async () => {
  const { key } = await booth.gateway.tenant()
  const long = makeWav(100, { declared: 3_601 * 32_000 })
  const answer = await booth.ask(key, [
    ['model', MODEL],
    ['file', long],
  ])
  assert.equal(answer.status, 400)
  assert.equal(answer.json.error, 'file: is 3601 s long, more than 3600 s')
})

test('Idempotency-Key: replays text for the same form in any order, not speech', async () => {
  const { key, accountId } = await booth.gateway.tenant()
  const header = { 'idempotency-key': 'once' }
  const first = await booth.ask(key, TO_TEXT, header)
  const after = await booth.gateway.balance(accountId)
  const again = await booth.ask(key, [...TO_TEXT].reverse(), header)
  assert.equal(again.text, first.text)
  assert.equal(again.headers.get('idempotent-replayed'), first.headers.get('x-request-id'))
  assert.equal((await booth.ask(key, [...TO_TEXT, ['voice', 'x']], header)).status, 422)
  const other: readonly FormEntry[] = [
    ['model', MODEL],
    ['file', makeWav(4_080)],
  ]
  assert.equal((await booth.ask(key, other, header)).status, 422)
  assert.deepEqual(await booth.gateway.balance(accountId), after)
  const spoken = { 'idempotency-key': 'spoken' }
  assert.equal((await booth.ask(key, TO_SPEECH, spoken)).status, 200)
  assert.equal((await booth.ask(key, TO_SPEECH, spoken)).status, 409)
})

test('the model is listed by its type', async () => {
  const { key } = await booth.gateway.tenant()
  const { json } = await booth.gateway.get('/v1/models?type=ast', key)
  const model = json.data.find(({ id }: { id: string }) => id === MODEL)
  assert.equal(model.model_type, 'ast')
})

const SIMULATED = { model: 'sim-interpretation', source_language: 'zh', target_language: 'en' }
for (const mode of ['s2t', 's2s']) {
  const body = { ...SIMULATED, mode }
  testCommonStatuses(() => booth.gateway, {
    path: ROUTE,
    body,
    other: { source_language: 'en', target_language: 'zh' },
    form: { file: makeWav(200), bytesMax: 3600 * 32_000 + 1024 * 1024 },
    model: `${body.model} ${mode}`,
    envelope: 'flat',
    withWords() {
      const { faults } = booth.gateway.simulators
      faults.add({ operation: 'interpretation', scenario: 'status=500' })
      return body
    },
    withModel: (model) => ({ path: ROUTE, body: { ...body, model } }),
  })
}
