import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { REQUEST_LIMITS } from '../../server/wire/dialects/json-scan.ts'
import { parseRequestJson } from '../../server/wire/dialects/request-json/parse.ts'
import { type JsonEdits, spliceJson } from '../../server/wire/dialects/splice.ts'

function splice(body: string, edits: JsonEdits): string {
  const bytes = Buffer.from(body)
  const parsed = parseRequestJson(bytes, { ...REQUEST_LIMITS, members: Infinity, keys: Infinity })
  assert.ok(parsed.ok)
  return spliceJson(bytes, parsed.fields, edits).toString()
}

const USAGE = { setInside: { stream_options: { include_usage: 'true' } } }

test('a value is replaced where it stands and nothing else changes', () => {
  const body = '{ "x": 1.0e2, "model" : "a",\n "z":[1 , 2] }'
  assert.equal(
    splice(body, { set: { model: '"gpt-é"' } }),
    '{ "x": 1.0e2, "model" : "gpt-é",\n "z":[1 , 2] }',
  )
})

test('a field that is missing is added behind the last one', () => {
  assert.equal(splice('{"a":1 }', { set: { model: '"m"' } }), '{"a":1,"model":"m" }')
  assert.equal(splice(' { } ', { set: { a: '1', b: '2' } }), ' {"a":1,"b":2 } ')
})

test('fields are removed with exactly one comma', () => {
  const body = '{"a":1, "b":2, "c":3}'
  assert.equal(splice(body, { remove: ['a'] }), '{"b":2, "c":3}')
  assert.equal(splice(body, { remove: ['b'] }), '{"a":1, "c":3}')
  assert.equal(splice(body, { remove: ['c'] }), '{"a":1, "b":2}')
  assert.equal(splice(body, { remove: ['a', 'b'] }), '{"c":3}')
  assert.equal(splice(body, { remove: ['b', 'c'] }), '{"a":1}')
  assert.equal(splice(body, { remove: ['a', 'c'] }), '{"b":2}')
  assert.equal(splice(body, { remove: ['a', 'b', 'c', 'd'] }), '{}')
  assert.equal(splice(body, { remove: ['c'], set: { d: '4', a: '9' } }), '{"a":9, "b":2,"d":4}')
  assert.equal(splice(body, { remove: ['a', 'b', 'c'], set: { d: '4' } }), '{"d":4}')
})

test('many fields are removed from between many others', () => {
  const names = Array.from({ length: 99_000 }, (_, index) => `n${index}`)
  const body = `{${names.map((name) => `"${name}":null,"s${name}":1`).join()}}`
  const left = `{${names.map((name) => `"s${name}":1`).join()}}`
  assert.equal(splice(body, { remove: names }), left)
})

test('a field gets its new name where it stands, however its key is written', () => {
  const rename = { max_tokens: 'max_completion_tokens' }
  assert.equal(
    splice('{"model":"a", "max_tokens" : 5e0,"n":1}', { rename, set: { model: '"m"' } }),
    '{"model":"m", "max_completion_tokens" : 5e0,"n":1}',
  )
  assert.equal(
    splice('{"max\\u005ftokens":5}', { rename, ...USAGE }),
    '{"max_completion_tokens":5,"stream_options":{"include_usage":true}}',
  )
  assert.equal(splice('{"n":1,"b":2}', { rename, remove: ['n'] }), '{"b":2}')
  const both = '{"max_tokens":5,"max\\u005fcompletion_tokens":6}'
  assert.equal(splice(both, { rename }), both)
})

test('stream_options.include_usage is set inside an object that is there', () => {
  assert.equal(
    splice('{"stream_options": { "include_obfuscation": false },"a":1}', USAGE),
    '{"stream_options": { "include_obfuscation": false,"include_usage":true },"a":1}',
  )
  assert.equal(
    splice('{"stream_options":{"include_usage" : false}}', USAGE),
    '{"stream_options":{"include_usage" : true}}',
  )
})

test('stream_options is added when absent, replaced when it is no object', () => {
  assert.equal(splice('{"a":1}', USAGE), '{"a":1,"stream_options":{"include_usage":true}}')
  assert.equal(
    splice('{"stream_options":null,"a":1}', USAGE),
    '{"stream_options":{"include_usage":true},"a":1}',
  )
})

test('an inner field in another letter case is set too, so that no reader sees the other', () => {
  assert.equal(
    splice('{"stream_options":{"include_usage":true,"Include_Usage":false}}', USAGE),
    '{"stream_options":{"include_usage":true,"Include_Usage":true}}',
  )
  assert.equal(
    splice('{"stream_options":{"INCLUDE_USAGE":false}}', USAGE),
    '{"stream_options":{"INCLUDE_USAGE":true,"include_usage":true}}',
  )
})

test('the very same Buffer comes back when nothing has to change', () => {
  const bytes = Buffer.from('{"model":"m","stream_options":{"include_usage":true}}')
  const parsed = parseRequestJson(bytes)
  assert.ok(parsed.ok)
  assert.equal(spliceJson(bytes, parsed.fields, { ...USAGE, set: { model: '"m"' } }), bytes)
  assert.equal(spliceJson(bytes, parsed.fields, { remove: ['absent'] }), bytes)
})

const KEYS = ['model', 'stream', 'a', 'b', 'c', 'stream_options']

test('property: the parsed result is the edited object, in the old order', () => {
  const key = fc.constantFrom(...KEYS)
  fc.assert(
    fc.property(
      fc.dictionary(key, fc.jsonValue()),
      fc.dictionary(key, fc.jsonValue(), { maxKeys: 3 }),
      fc.array(key, { maxLength: 4 }),
      fc.constantFrom(0, 1, 3),
      (body, set, removed, indent) => {
        const remove = removed.filter((name) => !Object.hasOwn(set, name))
        const expected = new Map(Object.entries(JSON.parse(JSON.stringify(body))))
        for (const name of remove) expected.delete(name)
        for (const [name, value] of Object.entries(set)) {
          expected.set(name, JSON.parse(JSON.stringify(value)))
        }
        const texts = Object.entries(set).map(([name, value]) => [name, JSON.stringify(value)])
        const edits = { set: Object.fromEntries(texts), remove }
        const result = JSON.parse(splice(JSON.stringify(body, null, indent), edits))
        assert.deepEqual(Object.entries(result), [...expected])
      },
    ),
    { numRuns: 1000 },
  )
})

test('property: the bytes of every untouched member survive', () => {
  const number = fc.constantFrom('1.0', '1E2', '-0', '12345678901234567890', '0.10')
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...KEYS), number), (members) => {
      const raw = Object.entries(members).map(([name, text]) => ` "${name}"\t: ${text} `)
      const result = splice(`{${raw.join(',')}}`, { set: { model: '"x"' }, ...USAGE })
      for (const part of raw) {
        if (!/"(model|stream_options)"/.test(part)) assert.ok(result.includes(part.trim()))
      }
    }),
  )
})
