import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import type { RelayReport } from '../../../server/wire/dialects/relay.ts'
import { readSpeechLine } from '../../../server/wire/dialects/speech/read-line.ts'
import { createSpeechTap } from '../../../server/wire/dialects/speech/tap.ts'
import { chunkings, run } from '../replay.ts'

const usage = { character: 3 }
const REPORTS: readonly [string, RelayReport][] = [
  ['lines', { usage, outputBytes: 1201, finished: true }],
  ['back-to-back', { usage, outputBytes: 1201, finished: true }],
  ['crlf', { usage, outputBytes: 1201, finished: true }],
  ['pretty', { usage, outputBytes: 1201, finished: true }],
  ['no-usage', { outputBytes: 1201, finished: true }],
  ['usage-on-every-line', { usage: { character: 7 }, outputBytes: 180, finished: true }],
  ['broken-line', { usage, outputBytes: 900, finished: true }],
  ['cut', { outputBytes: 900, finished: false }],
  [
    'error-first',
    {
      outputBytes: 0,
      finished: false,
      error: {
        type: 'invalid_request_error',
        message: 'invalid argument: speaker x not found',
        code: '45000001',
      },
    },
  ],
  [
    'error-after-audio',
    {
      outputBytes: 900,
      finished: false,
      error: { type: 'rate_limit_error', message: 'server busy', code: '55000031' },
    },
  ],
  [
    'error-nested',
    {
      outputBytes: 0,
      finished: false,
      error: {
        type: 'server_error',
        message: 'requested resource not granted',
        code: '45000030',
      },
    },
  ],
]

for (const [name, report] of REPORTS) {
  test(`${name}: the bytes pass unchanged and the report is the same at any chunking`, () => {
    const body = readFixture(name)
    for (const { name: chunking, chunks } of chunkings(body)) {
      const tap = createSpeechTap()
      const out = run(tap, chunks)
      if (report.finished || report.error) assert.equal(out, body.toString(), chunking)
      else {
        // A regular end without the end object is an error like a cut.
        const line = '{"code":55000000,"message":"upstream provider error","data":null}\n'
        const gap = body.toString().endsWith('\n') ? '' : '\n'
        assert.equal(out, body.toString() + gap + line, chunking)
      }
      const { outputBytes, ...rest } = tap.report()
      const { outputBytes: expected, ...others } = report
      assert.deepEqual(rest, others, chunking)
      // Base64 padding makes the count up to two bytes per line too large.
      assert.ok(Math.abs(outputBytes - expected) <= 8, `${chunking}: ${outputBytes}`)
    }
  })
}

test('once the first object is whole, a chunk goes on as the very same Buffer', () => {
  const tap = createSpeechTap()
  const first = Buffer.from('{"code":0,"data":"AAAA"}\n{"co')
  assert.equal(tap.push(first), first)
  const second = Buffer.from('de":0}')
  assert.equal(tap.push(second), second)
})

test('a first error is known before any byte has gone to the caller', () => {
  const body = readFixture('error-first')
  const tap = createSpeechTap()
  const half = tap.push(body.subarray(0, 30))
  assert.equal(half, undefined)
  assert.equal(tap.report().error, undefined)
  assert.deepEqual(tap.push(body.subarray(30)), body)
  assert.equal(tap.report().error?.code, '45000001')
})

test('a large first line is not held back', () => {
  const tap = createSpeechTap()
  const start = Buffer.from(`{"code":0,"data":"${'A'.repeat(2000)}`)
  assert.equal(tap.push(start), start)
})

test('what has no object at all is an error, whatever it is', () => {
  for (const page of ['', '\n', '<html>Hello</html>', 'x'.repeat(2000)]) {
    const tap = createSpeechTap()
    const out = `${tap.push(Buffer.from(page)) ?? ''}${tap.end() ?? ''}`
    assert.equal(JSON.parse(out.slice(page.length).trim()).code, 55000000, page)
    assert.deepEqual(tap.report().error, {
      type: 'server_error',
      message: 'upstream provider error',
    })
  }
})

test('a stream that breaks off ends with an error line of its own', () => {
  const failure = { type: 'server_error', message: 'upstream provider error' }
  const line = '{"code":55000000,"message":"upstream provider error","data":null}\n'
  const empty = createSpeechTap()
  assert.equal(empty.fail(failure)?.toString(), line)
  const between = createSpeechTap()
  const body = readFixture('lines')
  between.push(body.subarray(0, body.indexOf('\n') + 1))
  assert.equal(between.fail(failure)?.toString(), line)
  const inside = createSpeechTap()
  inside.push(Buffer.from('{"code":0,"data":"AA'))
  assert.equal(inside.fail(failure)?.toString(), `{"code":0,"data":"AA\n${line}`)
  assert.equal(inside.report().finished, false)
})

test('nothing is added behind an ending or an error of the upstream', () => {
  for (const name of ['lines', 'error-after-audio']) {
    const tap = createSpeechTap()
    tap.push(readFixture(name))
    assert.equal(tap.fail({ type: 'server_error', message: 'm' }), undefined)
  }
})

test('usage that is no number is not usage', () => {
  const tap = createSpeechTap()
  tap.push(Buffer.from('{"usage":{"text_words":5}}{"usage":{"text_words":"9"}}{"usage":[]}'))
  assert.deepEqual(tap.report().usage, { character: 5 })
  tap.push(Buffer.from('{"usage":{"text_words":-4}}'))
  assert.deepEqual(tap.report().usage, { character: 5 })
})

test('property: no usage and no code is missed, whatever the order, space and escapes', () => {
  const space = fc.constantFrom('', ' ', '\n\t')
  const codeKey = fc.constantFrom('"code"', '"c\\u006fde"')
  const usageKey = fc.constantFrom('"usage"', '"\\u0075sage"')
  const data = fc.constantFrom('null', '"AAAA"', '"a\\/b="', '"\\"usage\\":{\\"text_words\\":9}"')
  const code = fc.constantFrom(0, 20000000, 45000001)
  const all = fc.tuple(space, codeKey, usageKey, data, code, fc.nat(), fc.boolean(), fc.nat(5))
  fc.assert(
    fc.property(all, ([gap, codeName, usageName, audio, value, words, stated, turn]) => {
      const members = [
        `${codeName}${gap}:${gap}${value}`,
        `"data"${gap}:${audio}`,
        `"message":""`,
        ...(stated ? [`${usageName}:${gap}{"text_words"${gap}:${words}}`] : []),
      ]
      const turned = [...members.slice(turn % 4), ...members.slice(0, turn % 4)]
      const line = readSpeechLine(Buffer.from(`{${gap}${turned.join(`${gap},${gap}`)}${gap}}`))
      assert.equal(line.characters, stated ? words : undefined)
      assert.equal(line.finished, value === 20000000)
      assert.equal(line.error?.code, value === 45000001 ? value : undefined)
    }),
    { numRuns: 1000 },
  )
})

test('the last count is the one that is billed, whatever came before it', () => {
  for (const counts of [[41], [12, 41], [83, 41], [0, 97, 41]]) {
    const tap = createSpeechTap()
    for (const words of counts) {
      tap.push(Buffer.from(`{"code":0,"data":"AAAA","usage":{"text_words":${words}}}\n`))
    }
    tap.push(Buffer.from('{"code":20000000,"message":"OK","data":null}\n'))
    assert.deepEqual(tap.report().usage, { character: 41 }, counts.join())
  }
})

test('characters that are stated stay when a later line states no count', () => {
  for (const words of ['-5', '1.5', '"9"', 'null', '9007199254740993']) {
    const tap = createSpeechTap()
    tap.push(Buffer.from('{"code":0,"data":"AAAA","usage":{"text_words":41}}\n'))
    tap.push(Buffer.from(`{"code":20000000,"usage":{"text_words":${words}}}\n`))
    assert.deepEqual(tap.report().usage, { character: 41 }, words)
  }
})

export function readFixture(name: string): Buffer {
  return readFileSync(new URL(`fixtures/${name}.ndjson`, import.meta.url))
}
