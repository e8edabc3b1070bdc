/** A large object is read like a parsed one, except for its large values, at any chunking. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isObject, type JsonObject } from '../../server/base/lib/json.ts'
import { createLargeObjectReader } from '../../server/wire/dialects/large-object.ts'
import { anyText } from '../support/any-text.ts'
import { chunkings } from './replay.ts'

function read(levels: number, chunks: readonly Buffer[]): JsonObject | undefined {
  const reader = createLargeObjectReader(levels)
  for (const chunk of chunks) {
    const found = reader.push(chunk)
    if (found) return found
  }
  return undefined
}

const EVENT = {
  type: 'response.completed',
  response: {
    'id"\\': 'a\\"}{',
    'ä\u{1f600}': ['}', { usage: 1 }, '"'],
    empty: {},
    none: null,
    output: [{ text: '"usage":{"input_tokens":1}', '\\': '\\\\"' }],
    usage: { a: 1, b: [2] },
  },
  sequence_number: 7,
}

test('whole objects are read as they are, between whatever stands around them', () => {
  const body = Buffer.from(`event: x\ndata: ${JSON.stringify(EVENT, undefined, 1)}\n\n}}`)
  for (const { name, chunks } of chunkings(body)) {
    for (const levels of [1, 2, 3]) assert.deepEqual(read(levels, chunks), EVENT, name)
  }
})

test('any object, cut anywhere', () => {
  const property = fc.property(
    fc.dictionary(anyText(), fc.jsonValue()),
    fc.array(fc.nat(400), { maxLength: 6 }),
    (object, cuts) => {
      const body = Buffer.from(JSON.stringify(object))
      const places = [0, ...cuts.toSorted((a, b) => a - b), body.length]
      const chunks = places.slice(1).map((end, index) => body.subarray(places[index], end))
      const expected = JSON.parse(body.toString())
      const found = read(3, chunks)
      assert.deepEqual(Object.entries(found ?? {}), Object.entries(expected))
    },
  )
  fc.assert(property, { numRuns: 300, seed: 7 })
})

test('large values are left out, wherever they stand, and the rest is there', () => {
  const large = 'A'.repeat(100_000)
  const response = { before: 1, output: [{ result: large }], [large]: 2, text: large, usage: {} }
  const body = Buffer.from(JSON.stringify({ response, b64_json: large, after: 'x' }))
  for (const size of [body.length, 65_536, 1_000]) {
    const chunks: Buffer[] = []
    for (let at = 0; at < body.length; at += size) chunks.push(body.subarray(at, at + size))
    assert.deepEqual(read(2, chunks), { response: { before: 1, usage: {} }, after: 'x' })
  }
})

test('what is no object never ends, and never fails', () => {
  const words = ['{', '}', '[', ']', '"', '\\', ':', ',', '1', 'a', ' ', '\n', '{"a":', '"b"']
  const property = fc.property(fc.array(fc.constantFrom(...words), { maxLength: 60 }), (parts) => {
    const text = parts.join('')
    const found = read(
      2,
      parts.map((part) => Buffer.from(part)),
    )
    assert.ok(found === undefined || isObject(found), text)
  })
  fc.assert(property, { numRuns: 2_000, seed: 7 })
})
