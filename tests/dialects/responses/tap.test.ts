import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { RelayReport } from '../../../server/wire/dialects/relay.ts'
import { createResponsesTap } from '../../../server/wire/dialects/responses/tap.ts'
import { readSseFrame } from '../../../server/wire/dialects/sse.ts'
import { chunkings, run } from '../replay.ts'
import { askOpenai } from '../responses-over-chat/ask-openai.ts'

const usage = { input_token: 8, cached_input_token: 4, output_token: 5 }
const COMPLETED: RelayReport = { usage, outputBytes: 12, finished: true }
const BROKE = { type: 'server_error', message: 'it broke', code: 'server_error' }

interface Expected {
  readonly report: RelayReport
  /** The code of the event that we append; undefined: nothing is appended. */
  readonly appended?: string
}

const EXPECTED: Readonly<Record<string, Expected>> = {
  text: { report: COMPLETED },
  'no-event-lines': { report: COMPLETED },
  crlf: { report: COMPLETED },
  cr: { report: COMPLETED },
  'other-names': { report: COMPLETED },
  spaced: { report: COMPLETED },
  'comments-done': { report: COMPLETED },
  'items-only': { report: COMPLETED },
  incomplete: { report: COMPLETED },
  tools: { report: { usage: { input_token: 3, output_token: 9 }, outputBytes: 9, finished: true } },
  failed: {
    report: {
      usage: { ...usage, output_token: 0 },
      outputBytes: 0,
      finished: true,
      error: { type: 'rate_limit_error', message: 'slow down', code: 'rate_limit_exceeded' },
    },
  },
  'failed-no-usage': { report: { outputBytes: 12, finished: true, error: BROKE } },
  'error-event': {
    report: { outputBytes: 12, finished: false, error: BROKE },
    appended: 'server_error',
  },
  'error-flat': {
    report: {
      outputBytes: 0,
      finished: false,
      error: { type: 'server_error', message: 'not open', code: 'ModelNotOpen' },
    },
    appended: 'ModelNotOpen',
  },
  'no-ending': { report: { outputBytes: 12, finished: false }, appended: 'server_error' },
  'cut-inside': { report: { outputBytes: 6, finished: false }, appended: 'server_error' },
  'items-only-no-ending': {
    report: { outputBytes: 12, finished: false },
    appended: 'server_error',
  },
  empty: {
    report: {
      outputBytes: 0,
      finished: false,
      error: { type: 'server_error', message: 'upstream provider error' },
    },
    appended: 'server_error',
  },
  'no-last-blank-line': { report: COMPLETED },
}

test('every fixture has an expectation', () => {
  assert.deepEqual(fixtureNames().sort(), Object.keys(EXPECTED).sort())
})

/** The upstream's bytes that must be relayed: an event cut in two is not. */
function relayedPart(name: string): string {
  const text = readFixture(name).toString()
  if (name === 'no-last-blank-line') return `${text}\n\n`
  return name === 'cut-inside' ? text.slice(0, text.lastIndexOf('\n\n') + 2) : text
}

for (const [name, { report, appended }] of Object.entries(EXPECTED)) {
  test(`${name}: bytes pass unchanged, usage and ending are read at any chunking`, () => {
    // The end of another dialect is dropped.
    const passed = relayedPart(name).replace('data: [DONE]\n\n', '')
    for (const { name: chunking, chunks } of chunkings(readFixture(name))) {
      const tap = createResponsesTap()
      const out = run(tap, chunks)
      assert.equal(out.slice(0, passed.length), passed, chunking)
      const { answerId: _id, itemIds: _items, outputEvents: _events, ...seen } = tap.report()
      assert.deepEqual(seen, report, chunking)
      const rest = out.slice(passed.length)
      if (appended === undefined) assert.equal(rest, '', chunking)
      else assert.equal(readFailed(rest).response.error.code, appended, chunking)
    }
  })
}

interface FailedData {
  readonly sequence_number: number
  readonly response: {
    readonly id: string
    readonly status: string
    readonly error: { readonly code: string; readonly message: string }
  }
}

function readFailed(text: string): FailedData {
  const event = readSseFrame(Buffer.from(text))
  assert.equal(event?.event, 'response.failed')
  assert.ok(text.endsWith('\n\n') && !text.slice(0, -2).includes('\n\n'), 'one whole event')
  return JSON.parse(event.data)
}

test('an appended ending continues the ids and numbers of its stream', () => {
  const tap = createResponsesTap()
  const body = readFixture('no-ending')
  const failed = readFailed(run(tap, [body]).slice(body.toString().length))
  assert.deepEqual(failed, {
    type: 'response.failed',
    sequence_number: 7,
    response: {
      id: 'resp_1',
      object: 'response',
      created_at: 1780732857,
      status: 'failed',
      model: 'm-1',
      output: [],
      usage: null,
      error: { code: 'server_error', message: 'upstream provider error' },
    },
  })
})

test('the openai package reads the appended ending as a failure', async () => {
  const accepted = await askOpenai(run(createResponsesTap(), [readFixture('no-ending')]))
  assert.equal(accepted.status, 'failed')
  assert.equal(accepted.error?.message, 'upstream provider error')
})

test('an ending that is no JSON is replaced by a failure, which the openai package reads', async () => {
  const body = readFixture('no-ending').toString()
  for (const ending of [
    'data: {"type":"response.completed","response":{"id":"resp_1",,}}\n\n',
    'event: response.completed\ndata: {"type":"response.completed"}}\n\n',
  ]) {
    const tap = createResponsesTap()
    const out = run(tap, [Buffer.from(body + ending)])
    assert.equal(out.slice(0, body.length), body)
    assert.equal(readFailed(out.slice(body.length)).sequence_number, 7)
    assert.equal(tap.report().finished, false)
    assert.equal((await askOpenai(out)).status, 'failed')
  }
})

test('a break inside an event leaves whole events and a failure with a code', () => {
  const tap = createResponsesTap()
  const body = readFixture('text')
  const out = tap.push(body.subarray(0, 700))?.toString() ?? ''
  assert.ok(out.endsWith('\n\n') && body.toString().startsWith(out))
  const failure = { type: 'billing_error', message: 'insufficient balance' }
  const failed = readFailed(tap.fail(failure)?.toString() ?? '')
  assert.deepEqual(failed.response.error, {
    code: 'insufficient_quota',
    message: 'insufficient balance',
  })
  assert.equal(tap.fail(failure), undefined, 'one ending only')
})

test('nothing is appended behind the last event', () => {
  const tap = createResponsesTap()
  tap.push(readFixture('text'))
  assert.equal(tap.fail({ type: 'server_error', message: 'm' }), undefined)
  assert.equal(tap.end(), undefined)
})

test('without a first event the failure has an id of its own', () => {
  const [one, other] = [1, 2].map(() => readFailed(run(createResponsesTap(), [])).response.id)
  assert.match(one ?? '', /^resp_\w{48}$/)
  assert.notEqual(one, other)
})

test('a chunk of whole events passes as the same Buffer', () => {
  const tap = createResponsesTap()
  const body = readFixture('text')
  assert.equal(tap.push(body), body)
})

test('an event over the size limit passes, and an ending in it counts', () => {
  const tap = createResponsesTap()
  const big = `event: response.completed\ndata: {"x":"${'x'.repeat(25 * 1024 * 1024)}"}\n\n`
  const body = Buffer.concat([readFixture('no-ending'), Buffer.from(big)])
  const chunks: Buffer[] = []
  for (let at = 0; at < body.length; at += 65_536) chunks.push(body.subarray(at, at + 65_536))
  // Whether such an event was closed is not known: a blank line too many means nothing.
  assert.ok(run(tap, chunks).trimEnd() === body.toString().trimEnd(), 'the bytes pass')
  assert.equal(tap.report().finished, true)
})

const FOLDER = new URL('fixtures/', import.meta.url)

export function readFixture(name: string): Buffer {
  return readFileSync(new URL(`${name}.sse`, FOLDER))
}

export function fixtureNames(): string[] {
  return readdirSync(FOLDER).map((file) => file.replace('.sse', ''))
}
