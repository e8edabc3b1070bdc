/** Interpretations that fail at the vendor: the caller's answer, the charge, and no open hold. */
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import type { Script } from '../support/ast-vendor.ts'
import { type Booth, MODEL, openBooth, TO_SPEECH, TO_TEXT } from '../support/interpretation.ts'
import { makeWav } from '../support/wav.ts'

/** Short for a wait, long for a process that has to share its machine. */
const IDLE_MS = 3_000
let booth: Booth
/** Gives a silent vendor up soon; of no use to tests of vendors that speak. */
let impatient: Booth
before(async () => {
  booth = await openBooth()
  impatient = await openBooth({ UPSTREAM_IDLE_TIMEOUT_MS: String(IDLE_MS) })
})
after(async () => {
  await booth.stop()
  await impatient.stop()
})
afterEach(() => {
  booth.vendor.script = {}
  impatient.vendor.script = {}
})

interface Expected {
  readonly status: number
  readonly error?: RegExp
  readonly outcome: string
}

const BEFORE_AUDIO: readonly (readonly [title: string, script: Script, expected: Expected])[] = [
  [
    'the upgrade is refused: credentials',
    { refuse: { status: 401, body: '{"header":{"code":45000010,"message":"Invalid X-Api-Key"}}' } },
    { status: 502, outcome: 'channel_fault' },
  ],
  [
    'the upgrade is answered with a redirect, which is not followed',
    { refuse: { status: 302, body: '' } },
    { status: 502, outcome: 'failed' },
  ],
  [
    'a parameter is refused: the caller learns of it',
    { fail: { atBytes: 0, code: 45_000_001, message: 'bad language pair' } },
    { status: 400, error: /bad language pair/, outcome: 'rejected' },
  ],
  [
    'the vendor is busy',
    { fail: { atBytes: 0, code: 55_000_031, message: 'busy' } },
    { status: 502, outcome: 'busy' },
  ],
  [
    'the connection breaks before the session starts',
    { end: { atBytes: 0, how: 'reset' } },
    { status: 502, outcome: 'failed' },
  ],
  [
    'the session ends before it starts',
    { end: { atBytes: 0, how: 'finish' } },
    { status: 502, outcome: 'failed' },
  ],
]

for (const [title, script, expected] of BEFORE_AUDIO) {
  test(`${title}: nothing is charged`, async () => {
    const { key, accountId } = await booth.gateway.tenant()
    const before = await booth.gateway.balance(accountId)
    booth.vendor.script = script
    const answer = await booth.ask(key, TO_TEXT)
    assert.equal(answer.status, expected.status, answer.text)
    assert.match(answer.json.error, expected.error ?? /^upstream provider error$/)
    const record = await booth.gateway.record(answer, key)
    assert.equal(record.status, 'failed')
    assert.equal(record.attempts[0]?.outcome, expected.outcome)
    assert.deepEqual(await booth.gateway.balance(accountId), before)
  })
}

const MIDDLE = 64_000
const ENDS = ['reset', 'close', 'silence', 'text', 'junk', 'cancel'] as const
const FAILURES: readonly (readonly [string, Script])[] = [
  ...ENDS.map((how) => [how, { end: { atBytes: MIDDLE, how } }] as const),
  ['an error', { fail: { atBytes: MIDDLE, code: 55_000_000, message: 'internal' } }],
  ['our delay', { fail: { atBytes: MIDDLE, code: 45_000_081, message: 'waited too long' } }],
]

for (const [title, script] of FAILURES) {
  const isSilent = script.end?.how === 'silence'

  test(`s2t: ${title} in the middle is a 502, once, and is not charged`, async () => {
    const { gateway, vendor, ask } = isSilent ? impatient : booth
    const { key, accountId } = await gateway.tenant()
    const before = await gateway.balance(accountId)
    vendor.script = script
    const sessions = vendor.sessions.length
    const answer = await ask(key, TO_TEXT)
    assert.equal(answer.status, 502, answer.text)
    assert.equal(vendor.sessions.length, sessions + 1, 'it is not repeated')
    const record = await gateway.record(answer, key)
    assert.deepEqual([record.status, record.charged], ['failed', '0'])
    assert.deepEqual(await gateway.balance(accountId), before)
  })

  test(`s2s: ${title} in the middle cuts the stream, and what was billed is charged`, async () => {
    const { gateway, vendor, open } = isSilent ? impatient : booth
    const { key, accountId } = await gateway.tenant()
    vendor.script = script
    const response = await open(key, TO_SPEECH)
    assert.equal(response.status, 200)
    await assert.rejects(response.arrayBuffer(), 'there is no clean end')
    const record = await gateway.record(response, key)
    assert.deepEqual([record.status, record.basis], ['failed', 'usage'])
    assert.deepEqual(
      record.lines.map(({ quantity }) => quantity),
      [13, 10],
    )
    assert.equal((await gateway.balance(accountId)).held, 0n)
  })
}

test('without usage the length and the text are charged', async () => {
  const { key } = await booth.gateway.tenant()
  booth.vendor.script = { usage: 'none' }
  const answer = await booth.ask(key, TO_TEXT)
  const record = await booth.gateway.record(answer, key)
  assert.equal(record.basis, 'estimate')
  assert.deepEqual(
    record.lines.map(({ quantity }) => quantity),
    [25, Math.ceil('Sentence 1.Sentence 2.'.length / 3)],
  )
})

for (const [usage, lines] of [
  ['empty', [25, 8]],
  ['input', [25, 8]],
] as const) {
  test(`usage that states ${usage} alone: the rest is estimated`, async () => {
    const { key } = await booth.gateway.tenant()
    booth.vendor.script = { usage }
    const record = await booth.gateway.record(await booth.ask(key, TO_TEXT), key)
    assert.equal(record.basis, 'estimate')
    assert.deepEqual(
      record.lines.map(({ quantity }) => quantity),
      lines,
    )
  })
}

test('s2s that breaks off without usage is charged as what was delivered', async () => {
  const { key } = await booth.gateway.tenant()
  booth.vendor.script = { usage: 'none', end: { atBytes: MIDDLE, how: 'reset' } }
  const response = await booth.open(key, TO_SPEECH)
  await assert.rejects(response.arrayBuffer())
  const record = await booth.gateway.record(response, key)
  assert.equal(record.basis, 'partial')
  assert.deepEqual(
    record.lines.map(({ quantity }) => quantity),
    [7, 7],
    'one second of speech',
  )
})

test('cumulative usage is not added up', async () => {
  const { key } = await booth.gateway.tenant()
  booth.vendor.script = { usage: 'totals' }
  const record = await booth.gateway.record(await booth.ask(key, TO_TEXT), key)
  assert.deepEqual(
    record.lines.map(({ quantity }) => quantity),
    [25, 20],
  )
})

for (const mode of ['s2t', 's2s']) {
  test(`${mode}: usage behind the end of the session is charged`, async () => {
    const { key } = await booth.gateway.tenant()
    booth.vendor.script = { billsLate: true }
    const form = [
      ['model', MODEL],
      ['mode', mode],
      ['file', makeWav(5_900)],
    ] as const
    const record = await booth.gateway.record(await booth.ask(key, form), key)
    assert.equal(record.basis, 'usage')
    assert.deepEqual(
      record.lines.map(({ quantity }) => quantity),
      [37, 30],
    )
  })
}

test('negative usage counts as not stated and is estimated, within the hold', async () => {
  const { key } = await booth.gateway.tenant()
  booth.vendor.script = { usage: 'negative' }
  const record = await booth.gateway.record(await booth.ask(key, TO_TEXT), key)
  assert.deepEqual([record.basis, record.review], ['estimate', false])
  assert.ok(Number(record.charged) <= Number(record.held))
})

test('silence: empty texts, or no speech', async () => {
  const { key } = await booth.gateway.tenant()
  booth.vendor.script = { mute: true }
  const answer = await booth.ask(key, TO_TEXT)
  assert.deepEqual(answer.json, { text: '', source_text: '' })
  const response = await booth.open(key, TO_SPEECH)
  assert.equal(response.status, 200)
  assert.equal((await response.arrayBuffer()).byteLength, 0)
  assert.equal((await booth.gateway.record(response, key)).lines.length, 1, 'input was heard')
})

test('a vendor that never ends is a failure after the timeout', async () => {
  const { key } = await impatient.gateway.tenant()
  impatient.vendor.script = { endless: true }
  assert.equal((await impatient.ask(key, TO_TEXT)).status, 502)
})

test('after a refused connection another channel is tried', async () => {
  const { key } = await booth.gateway.tenant()
  const id = 'two-ways'
  const settings = { api_key: 'k', pace_ms: 0 }
  const at = (name: string, url: string) => ({
    id: name,
    upstream: 'doubao-ast',
    settings: { ...settings, base_url: url },
  })
  await booth.gateway.apply(
    {
      channels: [at('nobody', 'ws://127.0.0.1:9'), at('somebody', booth.vendor.url)],
      models: [
        {
          id,
          type: 'ast',
          free: true,
          prices: [],
          routes: [
            { channel: 'nobody', upstream_model: 'r', priority: 0 },
            { channel: 'somebody', upstream_model: 'r', priority: 1 },
          ],
        },
      ],
    },
    'two-ways',
  )
  const answer = await booth.ask(key, [['model', id], ...TO_TEXT.slice(1)])
  assert.equal(answer.status, 200, answer.text)
  const { attempts } = await booth.gateway.record(answer, key)
  assert.deepEqual(
    attempts.map(({ channel, outcome }) => [channel, outcome]),
    [
      ['nobody', 'not_sent'],
      ['somebody', 'answered'],
    ],
  )
})
