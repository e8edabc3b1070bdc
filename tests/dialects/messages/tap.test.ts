import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createMessagesTap } from '../../../server/wire/dialects/messages/tap.ts'
import { fixture, streamFixtures } from '../fixtures.ts'
import { chunkings, run } from '../replay.ts'

const USAGE = { input_token: 12, cached_input_token: 80, cache_write_5m_token: 5, output_token: 18 }
const BROKEN = new Set(['cut', 'cut-inside-event', 'no-stop'])
const ERROR_EVENT =
  'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"upstream provider error"}}\n\n'

function tapped(name: string) {
  const tap = createMessagesTap()
  const out = run(tap, [fixture(`messages/${name}.sse`)])
  return { out, report: tap.report() }
}

describe('bytes and usage', () => {
  for (const name of streamFixtures('messages')) {
    if (BROKEN.has(name) || name === 'no-event-lines') continue
    test(`${name}: every byte passes, known or unknown`, () => {
      assert.equal(tapped(name).out, fixture(`messages/${name}.sse`).toString())
    })
  }

  test('a chunk of whole events is handed on as the same buffer', () => {
    const body = fixture('messages/text.sse')
    assert.equal(createMessagesTap().push(body), body)
  })

  for (const name of streamFixtures('messages')) {
    test(`${name}: any chunking gives the same bytes and the same report`, () => {
      const body = fixture(`messages/${name}.sse`)
      const expected = tapped(name)
      for (const { name: chunking, chunks } of chunkings(body)) {
        const tap = createMessagesTap()
        assert.equal(run(tap, chunks), expected.out, chunking)
        assert.deepEqual(tap.report(), expected.report, chunking)
      }
    })
  }
})

describe('usage', () => {
  test('input, cache reads and cache writes are separate counts', () => {
    const { report } = tapped('text')
    const outputBytes = Buffer.byteLength('Hello, 世界 👋 "q"\n')
    assert.deepEqual(report, { usage: USAGE, outputBytes, outputEvents: 3, finished: true })
  })

  test('later counts replace earlier ones, null and absent ones do not', () => {
    const usage = { ...USAGE, input_token: 20, cached_input_token: 90 }
    assert.deepEqual(tapped('usage-in-delta').report.usage, usage)
    assert.deepEqual(tapped('two-deltas').report.usage, USAGE)
  })

  test('a stream that breaks off counts by the usage in its start', () => {
    const { report } = tapped('cut')
    const { output_token: _, ...usage } = USAGE
    assert.deepEqual(report, {
      usage,
      outputBytes: 6,
      outputEvents: 2,
      finished: false,
    })
  })

  test('arguments and thinking are output, signatures are not', () => {
    assert.equal(tapped('tools').report.outputBytes, 'Let me look.{"q":1}'.length)
    assert.equal(tapped('thinking').report.outputBytes, 'Hm, wellYes'.length)
  })
})

describe('endings', () => {
  test('a body that ends before message_stop gets an error event', () => {
    for (const name of ['cut', 'no-stop']) {
      const { out, report } = tapped(name)
      assert.equal(out, fixture(`messages/${name}.sse`).toString() + ERROR_EVENT, name)
      assert.equal(report.finished, false)
    }
  })

  test('half an event before that error event is left out', () => {
    const { out } = tapped('cut-inside-event')
    const body = fixture('messages/cut-inside-event.sse').toString()
    const whole = body.slice(0, body.lastIndexOf('\n\n') + 2)
    assert.equal(out, whole + ERROR_EVENT)
  })

  for (const name of ['error', 'error-first', 'error-flat']) {
    test(`${name}: the upstream's own error is the end and is reported`, () => {
      const { report } = tapped(name)
      assert.equal(report.error?.message, 'Overloaded')
      assert.equal(report.finished, false)
    })
  }

  test('an empty body is an error', () => {
    assert.equal(run(createMessagesTap(), []), ERROR_EVENT)
  })

  test('a break in the middle of an event ends in one whole error event', () => {
    const tap = createMessagesTap()
    const sent = tap.push(fixture('messages/text.sse').subarray(0, 600))?.toString() ?? ''
    assert.ok(sent.endsWith('\n\n'))
    const last = tap.fail({ type: 'server_error', message: 'upstream provider error' })
    assert.equal(last?.toString(), ERROR_EVENT)
  })

  test('a break inside an event over the limit closes that event first', () => {
    const tap = createMessagesTap()
    tap.push(Buffer.from(`data: ${'x'.repeat(9_000_000)}`))
    const last = tap.fail({ type: 'server_error', message: 'upstream provider error' })
    assert.equal(last?.toString(), `\n\n${ERROR_EVENT}`)
  })

  test('after message_stop a break says nothing more', () => {
    const tap = createMessagesTap()
    tap.push(fixture('messages/text.sse'))
    assert.equal(tap.fail({ type: 'server_error', message: 'x' }), undefined)
  })
})
