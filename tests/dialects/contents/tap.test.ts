/** Answers of the contents format that pass, as events and as a list, however they are cut. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createContentsBodyTap,
  createContentsTap,
} from '../../../server/wire/dialects/contents/tap.ts'
import { chunkings, run } from '../replay.ts'

const PIECES = [
  { candidates: [{ content: { parts: [{ text: 'Flüsse ] } " 🌊' }] } }] },
  { candidates: [{ finishReason: 'TIDAL_WAVE' }], usageMetadata: { promptTokenCount: 3 } },
]
const BODY = Buffer.from(PIECES.map((piece) => `data: ${JSON.stringify(piece)}\r\n\r\n`).join(''))
const BROKEN = { error: { code: 503, status: 'UNAVAILABLE', message: 'overloaded' } }

test('events pass unchanged, and are one list where a list was asked for', () => {
  for (const { name, chunks } of chunkings(BODY)) {
    const events = createContentsTap({ billsQueries: true, isList: false })
    assert.equal(run(events, chunks), BODY.toString(), name)
    const list = createContentsTap({ billsQueries: true, isList: true })
    assert.deepEqual(JSON.parse(run(list, chunks)), PIECES, name)
    for (const relay of [events, list]) {
      const { finished, usage, outputBytes } = relay.report()
      assert.deepEqual([finished, usage, outputBytes], [true, { input_token: 3 }, 18])
    }
  }
})

test('every candidate counts: its text, its searches and its pictures', () => {
  const say = (text: string, index: number, query: string) => ({
    content: { parts: [{ text }] },
    index,
    finishReason: 'STOP',
    groundingMetadata: { webSearchQueries: [query] },
  })
  const answer = { candidates: [say('abc', 0, 'one'), say('defgh', 1, 'two')] }
  const later = { candidates: [say('ij', 1, 'two')] }
  const body = [answer, later].map((piece) => `data: ${JSON.stringify(piece)}\n\n`).join('')
  const stream = createContentsTap({ billsQueries: true, isList: false })
  run(stream, [Buffer.from(body)])
  const { outputBytes, usage } = stream.report()
  assert.deepEqual([outputBytes, usage], [10, { web_search_call: 2 }])
  const whole = createContentsBodyTap({ billsQueries: true })
  run(whole, [Buffer.from(JSON.stringify(answer))])
  assert.deepEqual([whole.report().outputBytes, whole.report().usage], [8, { web_search_call: 2 }])
})

test('a call in pieces, as Vertex AI writes it, is counted and billed as stated', () => {
  const piece = (functionCall: object, more: object = {}, usageMetadata: object = {}) => ({
    candidates: [{ content: { role: 'model', parts: [{ functionCall }] }, ...more }],
    usageMetadata: { trafficType: 'ON_DEMAND', ...usageMetadata },
  })
  const part = (stringValue: string) => ({
    partialArgs: [{ jsonPath: '$.city', stringValue, willContinue: true }],
    willContinue: true,
  })
  const stated = {
    promptTokenCount: 36,
    candidatesTokenCount: 29,
    thoughtsTokenCount: 193,
    totalTokenCount: 258,
  }
  const pieces = [
    piece({ name: 'weather', willContinue: true }, {}, { billablePromptUsage: { textCount: 441 } }),
    piece(part('Zürich')),
    piece({}, { finishReason: 'STOP' }, stated),
  ]
  const body = Buffer.from(pieces.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(''))
  for (const { name, chunks } of chunkings(body)) {
    const relay = createContentsTap({ billsQueries: false, isList: false })
    run(relay, chunks)
    const { usage, unknownUsage, finished, facts, outputBytes = 0 } = relay.report()
    assert.deepEqual([usage, unknownUsage], [{ input_token: 36, output_token: 222 }, undefined])
    assert.deepEqual([finished, facts?.service_tier], [true, 'standard'], name)
    assert.ok(outputBytes > JSON.stringify(part('Zürich').partialArgs).length, name)
  }
})

test('an error, a cut and a lost connection end either form with one error', () => {
  const failure = Buffer.from(`data: ${JSON.stringify(BROKEN)}\n\n`)
  const first = BODY.subarray(0, BODY.indexOf('\r\n\r\n') + 4)
  for (const isList of [false, true]) {
    const lost = createContentsTap({ billsQueries: true, isList })
    const kept = lost.push(first)?.toString() ?? ''
    const texts = [
      run(createContentsTap({ billsQueries: true, isList }), [first, failure, BODY]),
      run(createContentsTap({ billsQueries: true, isList }), [first]),
      kept + (lost.fail({ type: 'server_error', message: 'gone' })?.toString() ?? ''),
    ]
    for (const text of texts) {
      const last = isList
        ? JSON.parse(text).at(-1)
        : JSON.parse(text.trimEnd().split('\n').at(-1) ?? '')
      assert.equal(last.error.code, 500, text)
      assert.equal(text.match(/"error"/g)?.length, 1, text)
    }
    assert.equal(lost.report().finished, false)
  }
})

test('a whole answer passes with any end; an error in its place is one', () => {
  const whole = { candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] }
  const relay = createContentsBodyTap({ billsQueries: true })
  assert.equal(run(relay, [Buffer.from(JSON.stringify(whole))]), JSON.stringify(whole))
  assert.equal(relay.report().error, undefined)
  for (const document of [BROKEN, [BROKEN], {}, 'x']) {
    const other = createContentsBodyTap({ billsQueries: true })
    run(other, [Buffer.from(JSON.stringify(document))])
    assert.ok(other.report().error, JSON.stringify(document))
  }
})
