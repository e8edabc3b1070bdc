import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { cutJson, type JsonPath } from '../../server/wire/dialects/cut-json.ts'
import { parseRequestJson } from '../../server/wire/dialects/request-json/parse.ts'

const cut = (body: string, ...paths: JsonPath[]) => cutJson(Buffer.from(body), paths).toString()

test('parts are taken out with exactly one comma, and the rest keeps its bytes', () => {
  const body = '{ "n" : 1.0e2, "a":[ 1 , {"b":[2,3 , 4]},\n5 ],"z":"\\u0061" }'
  assert.equal(cut(body), body)
  assert.equal(cut(body, ['n']), '{ "a":[ 1 , {"b":[2,3 , 4]},\n5 ],"z":"\\u0061" }')
  assert.equal(cut(body, ['z']), '{ "n" : 1.0e2, "a":[ 1 , {"b":[2,3 , 4]},\n5 ] }')
  assert.equal(cut(body, ['a', 0]), '{ "n" : 1.0e2, "a":[ {"b":[2,3 , 4]},\n5 ],"z":"\\u0061" }')
  assert.equal(cut(body, ['a', 1], ['a', 2]), '{ "n" : 1.0e2, "a":[ 1 ],"z":"\\u0061" }')
  assert.equal(cut('{"a":[ 1 , 2 ]}', ['a', 0], ['a', 1]), '{"a":[  ]}')
  assert.equal(cut('{"a":{"b":[1,2]}}', ['a', 'b', 1]), '{"a":{"b":[1]}}')
})

test('a part inside of one that goes is gone with it; unknown paths change nothing', () => {
  assert.equal(cut('{"a":[[1,2],3]}', ['a', 0, 1], ['a', 0]), '{"a":[3]}')
  assert.equal(cut('{"a":[[1,2],3]}', ['a', 0], ['a', 0, 1]), '{"a":[3]}')
  assert.equal(cut('{"a":1}', ['b'], ['a', 0], ['a', 'b', 'c']), '{"a":1}')
})

test('a duplicate and an escaped key are found', () => {
  assert.equal(cut('{"m":[{"k":1,"\\u006b":2,"x":3}]}', ['m', 0, 'k']), '{"m":[{"x":3}]}')
})

/** Writes JSON with space wherever it may stand. */
function write(value: unknown, space: () => string): string {
  const join = (parts: string[]) => parts.map((part) => `${space()}${part}${space()}`).join(',')
  if (Array.isArray(value)) return `[${join(value.map((one) => write(one, space)))}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value)
  const written = members.map(([key, one]) => {
    return `${JSON.stringify(key)}${space()}:${space()}${write(one, space)}`
  })
  return `{${join(written)}}`
}

function listPaths(value: unknown, at: JsonPath = []): JsonPath[] {
  if (typeof value !== 'object' || value === null) return []
  const steps = Array.isArray(value) ? value.map((_, index) => index) : Object.keys(value)
  return steps.flatMap((step) => {
    const path = [...at, step]
    return [path, ...listPaths((value as Record<string | number, unknown>)[step], path)]
  })
}

function without(value: unknown, at: JsonPath, gone: ReadonlySet<string>): unknown {
  if (typeof value !== 'object' || value === null) return value
  const stays = (step: string | number) => !gone.has(JSON.stringify([...at, step]))
  if (Array.isArray(value)) {
    const kept = value
      .map((one, index) => [one, index] as const)
      .filter(([, index]) => stays(index))
    return kept.map(([one, index]) => without(one, [...at, index], gone))
  }
  const kept = Object.entries(value).filter(([key]) => stays(key))
  return Object.fromEntries(kept.map(([key, one]) => [key, without(one, [...at, key], gone)]))
}

test('any parts of any body are taken out, and no others', () => {
  const bodies = fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 4 }))
  const spaces = fc.infiniteStream(fc.constantFrom('', '', ' ', '\n\t'))
  fc.assert(
    fc.property(bodies, spaces, fc.infiniteStream(fc.nat(3)), (sent, space, draws) => {
      const text = write(sent, () => space.next().value)
      const body = JSON.parse(text) as Record<string, unknown>
      if (!parseRequestJson(Buffer.from(text)).ok) return
      const paths = listPaths(body).filter(() => draws.next().value === 0)
      const gone = new Set(paths.map((path) => JSON.stringify(path)))
      assert.deepEqual(JSON.parse(cut(text, ...paths)), without(body, [], gone))
    }),
    { numRuns: 500 },
  )
})
