/** A short look at an event finds the same type and content as a long one, or nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { judgeEvent } from '../../../server/wire/dialects/parse-event-data.ts'
import {
  countDeltaBytes,
  NamedEvents,
  readEventData,
  readEventType,
} from '../../../server/wire/dialects/responses/read-event.ts'
import { anyText } from '../../support/any-text.ts'

const DELTA = 'response.output_text.delta'
const TWO_NAMES = `event:${DELTA}\ndata: {}\nevent: ping\ndata: }\n\n`
const names = fc.constantFrom(DELTA, `${DELTA}.x`, 'response.completed', 'error', 'ping', '', 'a b')
const fields = fc.constantFrom('event: ', 'event:', 'event:  ', '\uFEFFevent: ', 'id: ', ': ')
const ends = fc.constantFrom('\n', '\r\n', '\r', '\n\n')
const texts = fc.oneof(
  anyText({ maxLength: 8 }).map((text) => JSON.stringify(text)),
  fc.constantFrom('"\\""', '"a\\\\"', '"', '{}', '"delta":"x"', '1'),
)
const objects = fc
  .tuple(texts, fc.constantFrom('delta', 'd\\u0065lta', 'other'))
  .map(([text, key]) => `{"type":"response.other","${key}":${text}}`)
const bodies = fc.oneof(
  { weight: 4, arbitrary: objects },
  fc.constantFrom(
    '{',
    '[1]',
    '[DONE]',
    '',
    '{}\ndata: {}',
    `{}\nevent: ${DELTA}`,
    `{}\nevent: ping\ndata: }`,
    '{}}',
    '{} x',
  ),
)
const tails = fc.constantFrom('\n\n', '\r\n\r\n', '\r\r', '\n', '', '\n\n\n\n\n\n\n\n\n', ' \t\n\n')
const beginnings = fc.oneof(
  { weight: 4, arbitrary: fc.constant(`event: ${DELTA}\ndata: `) },
  fc
    .tuple(fields, names, ends, fc.constantFrom('data: ', 'data:', ''))
    .map((parts) => parts.join('')),
)
const frames = fc.tuple(beginnings, bodies, tails).map((parts) => Buffer.from(parts.join('')))

test('the first and last bytes of an event show its type and that it has an object', () => {
  let found = 0
  fc.assert(
    fc.property(fc.array(frames, { maxLength: 6 }), (events) => {
      const named = new NamedEvents()
      for (const event of events) {
        const type = named.read(event)
        if (type === undefined) continue
        found += 1
        assert.equal(readEventType(event), type)
        assert.equal(judgeEvent(event), 'object')
      }
    }),
    { numRuns: 2_000, examples: [[[Buffer.from(TWO_NAMES)]]] },
  )
  assert.ok(found > 100)
})

test('the text of a delta has as many bytes as when it is parsed', () => {
  fc.assert(
    fc.property(anyText({ maxLength: 20 }), ends, (delta, end) => {
      const data = JSON.stringify({ type: DELTA, item_id: 'i', delta, obfuscation: 'x' })
      const frame = Buffer.from(`event: ${DELTA}${end}data: ${data}${end}${end}`)
      assert.equal(countDeltaBytes(frame), Buffer.byteLength(String(readEventData(frame)?.delta)))
    }),
  )
})
