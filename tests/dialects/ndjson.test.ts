import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createNdjsonSplitter } from '../../server/wire/dialects/ndjson.ts'
import { anyText } from '../support/any-text.ts'
import { chunkings } from './replay.ts'

function split(chunks: readonly Buffer[], limitBytes?: number) {
  const objects: string[] = []
  const splitter = createNdjsonSplitter({
    onObject: (bytes) => objects.push(bytes.toString()),
    ...(limitBytes === undefined ? {} : { limitBytes }),
  })
  for (const chunk of chunks) splitter.push(chunk)
  splitter.end()
  return { objects, dropped: splitter.droppedObjects() }
}

const CASES: readonly [string, string, string[], number][] = [
  ['lines', '{"a":1}\n{"b":2}\n', ['{"a":1}', '{"b":2}'], 0],
  ['no last line feed', '{"a":1}\n{"b":2}', ['{"a":1}', '{"b":2}'], 0],
  ['back to back', '{"a":1}{"b":[{"c":{}}]}', ['{"a":1}', '{"b":[{"c":{}}]}'], 0],
  ['CRLF, blank lines, commas', '\r\n{"a":1}\r\n\r\n,{"b":2},', ['{"a":1}', '{"b":2}'], 0],
  ['over several lines', '{\n "a":\n{}}\n', ['{\n "a":\n{}}'], 0],
  ['braces and quotes in strings', '{"a":"}{\\"}\\\\"}{}', ['{"a":"}{\\"}\\\\"}', '{}'], 0],
  ['characters of several bytes', '{"é":"你好😀"}', ['{"é":"你好😀"}'], 0],
  ['a string cut by a line feed', '{"a":"x\n{"b":2}', ['{"b":2}'], 1],
  ['a missing brace', '{"a":1\n{"b":2}', ['{"b":2}'], 1],
  ['a missing brace in a list', '{"a":[1\n{"b":2}', ['{"b":2}'], 1],
  ['an odd quote', '{"a":"x"y"}\n{"b":2}', ['{"b":2}'], 1],
  ['stray closers', ']}\n{"b":2}}]{"c":3}', ['{"b":2}', '{"c":3}'], 0],
  ['an unfinished end', '{"a":1}{"b":', ['{"a":1}'], 1],
  ['nothing', '', [], 0],
]

for (const [name, body, objects, dropped] of CASES) {
  test(`objects are found at any chunking: ${name}`, () => {
    for (const { name: chunking, chunks } of chunkings(Buffer.from(body))) {
      assert.deepEqual(split(chunks), { objects, dropped }, chunking)
    }
  })
}

test('an object over the limit is dropped, never held, and the next one is read', () => {
  const body = `{"a":"${'x'.repeat(50)}"}{"b":2}`
  for (const { name, chunks } of chunkings(Buffer.from(body))) {
    assert.deepEqual(split(chunks, 40), { objects: ['{"b":2}'], dropped: 1 }, name)
  }
  const exact = '{"a":"xx"}'
  for (const { chunks } of chunkings(Buffer.from(exact))) {
    assert.deepEqual(split(chunks, exact.length).objects, [exact])
    assert.deepEqual(split(chunks, exact.length - 1).objects, [])
  }
})

test('property: any objects, any separators, any chunks', () => {
  const separator = fc.constantFrom('', '\n', '\r\n', ' ', '\n\n')
  const object = fc.dictionary(anyText(), fc.jsonValue())
  const parts = fc.array(fc.tuple(object, separator), { maxLength: 8 })
  fc.assert(
    fc.property(parts, fc.array(fc.nat(200)), (pairs, sizes) => {
      const body = Buffer.from(pairs.map(([o, s]) => JSON.stringify(o) + s).join(''))
      const chunks: Buffer[] = []
      let at = 0
      for (const size of [...sizes, body.length]) {
        chunks.push(body.subarray(at, at + size))
        at += size
      }
      const { objects, dropped } = split(chunks)
      assert.deepEqual(
        objects,
        pairs.map(([o]) => JSON.stringify(o)),
      )
      assert.equal(dropped, 0)
    }),
  )
})
