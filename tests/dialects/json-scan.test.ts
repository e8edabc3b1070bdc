import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { JsonRefusalReason } from '../../server/wire/dialects/json-refusal.ts'
import {
  REQUEST_LIMITS,
  runSteps,
  scanInSteps,
  scanJson,
} from '../../server/wire/dialects/json-scan.ts'
import { parseInSteps, parseRequestJson } from '../../server/wire/dialects/request-json/parse.ts'
import { anyText } from '../support/any-text.ts'

/** A scan in steps finds what a scan in one finds. */
function compareSteps(bytes: Buffer, limits = REQUEST_LIMITS): void {
  const whole = scanJson(bytes, limits)
  for (const stepBytes of [1, 7]) {
    assert.deepEqual(runSteps(scanInSteps(bytes, limits, stepBytes)), whole)
  }
}

function refusalOf(body: string | Buffer, limits = REQUEST_LIMITS) {
  const bytes = Buffer.from(body)
  if (bytes.length < 1_000) compareSteps(bytes, limits)
  const parsed = parseRequestJson(bytes, limits)
  assert.ok(!parsed.ok, 'the body should have been refused')
  return parsed
}

/** Each top-level member as its raw text, in order. */
function rawMembers(body: string): [string, string][] {
  const bytes = Buffer.from(body)
  const scan = scanJson(bytes)
  assert.ok(scan.ok)
  return Array.from(scan.fields, ([key, { valueStart, valueEnd }]) => [
    key,
    bytes.toString('utf8', valueStart, valueEnd),
  ])
}

test('offsets are exact whatever the white space and the kind of value', () => {
  const body = ' {\n"a" :\t[1, {"b":2}] , "c":"x\\"}," ,"d":-1.5e3,"é":null,"t":true,"o":{}\r\n} '
  assert.deepEqual(rawMembers(body), [
    ['a', '[1, {"b":2}]'],
    ['c', '"x\\"},"'],
    ['d', '-1.5e3'],
    ['é', 'null'],
    ['t', 'true'],
    ['o', '{}'],
  ])
})

test('an empty object has no members', () => {
  assert.deepEqual(rawMembers('{ }'), [])
})

test('strings that end in backslashes, short and long, end where JSON says', () => {
  for (const length of [0, 1, 23, 31, 32, 33, 64, 500]) {
    for (const tail of ['', '\\\\', '\\"', '\\\\\\"', '\\\\\\\\']) {
      const value = `"${'x'.repeat(length)}${tail}"`
      assert.deepEqual(rawMembers(`{"a":${value},"b":1}`), [
        ['a', value],
        ['b', '1'],
      ])
    }
  }
})

const REFUSED: readonly [string, string | Buffer, JsonRefusalReason][] = [
  ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), 'encoding'],
  ['half a surrogate in bytes', Buffer.from('7b2261223a22eda08022 7d', 'hex'), 'encoding'],
  ['nothing', '', 'not_an_object'],
  ['an array', '[]', 'not_an_object'],
  ['a text', '"{}"', 'not_an_object'],
  ['a byte order mark', '\ufeff{}', 'not_an_object'],
  ['a cut body', '{"a":[1,', 'syntax'],
  ['a cut string', '{"a":"b', 'syntax'],
  ['a cut key', '{"a', 'syntax'],
  ['a string that ends in a backslash', '{"a":"b\\', 'syntax'],
  ['a key without quotes', '{a:1}', 'syntax'],
  ['a bad escape in a key', '{"\\u00zz":1}', 'syntax'],
  ['no colon', '{"a" 1}', 'syntax'],
  ['no value', '{"a":,"b":1}', 'syntax'],
  ['a trailing comma', '{"a":1,}', 'syntax'],
  ['crossed brackets', '{"a":[}', 'syntax'],
  ['text behind the body', '{"a":1}{}', 'syntax'],
  ['a control character', '{"a":"\n"}', 'syntax'],
  ['NaN', '{"a":NaN}', 'syntax'],
  ['the same key twice', '{"model":"a","x":1,"model":"b"}', 'duplicate_key'],
  ['the same key in escapes', '{"model":"a","mod\\u0065l":"b"}', 'duplicate_key'],
  ['the same key in capitals', '{"model":"a","MODEL":"b"}', 'duplicate_key'],
  ['the same key with a long s', '{"messages":[],"meſſages":[]}', 'duplicate_key'],
  ['__proto__ twice', '{"__proto__":1,"__proto__":2}', 'duplicate_key'],
  ['a type twice', '{"tools":[{"type":"web_search","type":"function"}]}', 'duplicate_key'],
  ['an inner key in escapes', '{"a":{"b":1,"\\u0062":2}}', 'duplicate_key'],
  [
    'a type of an item twice',
    '{"input":[{"type":"item_reference","type":"message"}]}',
    'duplicate_key',
  ],
  ['a content twice', '{"messages":[{"content":[{"file":{}}],"content":"a"}]}', 'duplicate_key'],
  [
    'a part in two cases',
    '{"messages":[{"content":[{"a":1,"a":1},{"b":1,"B":1}]}]}',
    'duplicate_key',
  ],
  ['input of no call twice', '{"input":[{"type":"x","input":{"a":1,"a":2}}]}', 'duplicate_key'],
  [
    'a call itself twice',
    '{"messages":[{"type":"tool_use","input":{},"input":{}}]}',
    'duplicate_key',
  ],
  [
    'a type beside a call',
    '{"input":[{"type":"tool_use","type":"x","input":{"a":1}}]}',
    'duplicate_key',
  ],
  ['tools in an item', '{"input":[{"tools":[{"type":"a","type":"b"}]}]}', 'duplicate_key'],
  ['an inner __proto__ twice', '{"a":{"__proto__":1,"__proto__":2}}', 'duplicate_key'],
  ['1e400', '{"a":{"b":[1e400]}}', 'number_out_of_range'],
  ['-1E400 on top', '{"a":-1E400}', 'number_out_of_range'],
  ['400 digits', `{"a":${'9'.repeat(400)}}`, 'number_out_of_range'],
]

for (const [name, body, reason] of REFUSED) {
  test(`refused: ${name}`, () => {
    const refusal = refusalOf(body)
    assert.equal(refusal.reason, reason)
    assert.match(refusal.message, /^request body /)
  })
}

test('keys that stand twice in the arguments of a tool, or in two objects, are left alone', () => {
  for (const body of [
    '{"messages":[{"content":[{"type":"tool_use","input":{"a":1,"a":2}}]}],"tools":[]}',
    '{"messages":[{"content":[{"input":{"a":[{"b":1,"b":2}]},"type": "server_tool_use"}]}]}',
    '{"input":[{"arguments":{"a":1,"a":2}},{"input":{"a":1},"arguments":{"type":1,"type":2}}]}',
    '{"tools":[{"type":"a:b","x":":"},{"type":"b"}],"x":{"a":{"a":{"a":":"}}}}',
  ]) {
    assert.ok(parseRequestJson(Buffer.from(body)).ok, body)
  }
})

test('a refusal names the field and the byte', () => {
  assert.deepEqual(refusalOf('{"a":1,"big":[1e400]}'), {
    ok: false,
    reason: 'number_out_of_range',
    field: 'big',
    offset: 14,
    message: 'request body holds a number that is out of range (field "big", byte 14)',
  })
  const long = refusalOf(`{"${'k'.repeat(9999)}":1e999}`)
  assert.ok(long.message.length < 200)
})

test('the limits are exact: depth, number of values and of fields', () => {
  const nest = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
  assert.ok(scanJson(Buffer.from(nest(64))).ok)
  assert.equal(refusalOf(nest(65)).reason, 'too_deep')
  const limits = { ...REQUEST_LIMITS, values: 10, members: Infinity }
  const keys = (count: number) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 1])))
  assert.ok(scanJson(Buffer.from(keys(9)), limits).ok)
  assert.equal(refusalOf(keys(10), limits).reason, 'too_many_values')
  assert.ok(scanJson(Buffer.from(keys(1_000))).ok)
  assert.equal(refusalOf(keys(1_001)).reason, 'too_many_fields')
  assert.ok(scanJson(Buffer.from(`{"a":${keys(1_001)}}`)).ok, 'inside of a field')
  assert.equal(refusalOf(`{"a":[${'0,'.repeat(12)}0]}`, limits).reason, 'too_many_values')
  assert.equal(refusalOf(`{"a":[${'[],'.repeat(12)}0]}`, limits).reason, 'too_many_values')
})

test('different keys are limited, not those that are repeated', () => {
  const limits = { ...REQUEST_LIMITS, keys: 10 }
  const items = (count: number, name: (item: number) => string) =>
    `{"a":[${Array.from({ length: count }, (_, item) => `{"${name(item)}" : "x"}`).join()}]}`
  const scan = (body: string) => scanJson(Buffer.from(body), limits)
  // With that of the body itself.
  assert.ok(scan(items(9, (item) => `k${item}`)).ok)
  assert.equal(
    refusalOf(
      items(10, (item) => `k${item}`),
      limits,
    ).reason,
    'too_many_keys',
  )
  assert.ok(scan(items(1_000, (item) => `k${item % 9}`)).ok)
  assert.ok(scan(`{"a":[{"k":[${'"v",'.repeat(1_000)}"\\":"]}]}`).ok, 'texts are no keys')
})

test('a name of more than 8 KB is refused, wherever it is', () => {
  const named = (bytes: number) => `{"${'k'.repeat(bytes - 2)}":1}`
  for (const body of [named, (bytes: number) => `{"a":[{"b":"c"},${named(bytes)}]}`]) {
    assert.ok(scanJson(Buffer.from(body(8_192))).ok)
    assert.equal(refusalOf(body(8_193)).reason, 'name_too_long')
  }
  for (const name of ['"type" ', '"role"', '"t\\u0079pe"']) {
    const kind = (bytes: number) => `{"a":[{${name}: "${'k'.repeat(bytes - 2)}"}]}`
    assert.ok(scanJson(Buffer.from(kind(8_192))).ok)
    assert.equal(refusalOf(kind(8_193)).reason, 'name_too_long')
  }
  const text = 'v'.repeat(20_000)
  assert.ok(scanJson(Buffer.from(`{"a":[{"type":["${text}"]},["type","${text}"]]}`)).ok)
  assert.ok(scanJson(Buffer.from(`{"a":"${text}","b":[{"c":"${text}"},"${text}"]}`)).ok)
})

test('hostile sizes are refused without recursion', () => {
  assert.equal(refusalOf(`{"a":${'['.repeat(1_000_000)}`).reason, 'too_deep')
  const keys = Array.from({ length: 300_000 }, (_, i) => `"k${i}":0`)
  assert.equal(refusalOf(`{${keys.join(',')}}`).reason, 'too_many_fields')
  assert.equal(refusalOf(`{"a":{${keys.join(',')}}}`).reason, 'too_many_values')
  assert.equal(refusalOf(`{"a":{${keys.slice(0, 100_000).join(',')}}}`).reason, 'too_many_keys')
})

test('a long body is scanned and parsed in steps of a megabyte', () => {
  const messages = Array.from({ length: 4_000 }, () => ({
    role: 'user',
    content: 'ab '.repeat(300),
  }))
  const bytes = Buffer.from(JSON.stringify({ model: 'm', messages, x: ' '.repeat(2 ** 20) }))
  const countOf = (steps: Generator<void, { readonly ok: boolean }>) => {
    let count = 0
    let step = steps.next()
    for (; !step.done; step = steps.next()) count += 1
    assert.ok(step.value.ok)
    return count
  }
  const scanned = countOf(scanInSteps(bytes))
  assert.ok(scanned >= 4, `${scanned}`)
  const parsed = countOf(parseInSteps(bytes))
  assert.ok(parsed >= 2 * scanned, `${parsed}`)
  assert.equal(countOf(parseInSteps(Buffer.from('{"a":1}'))), 0)
})

test('__proto__ and constructor stay members of the body and reach no prototype', () => {
  const parsed = parseRequestJson(Buffer.from('{"__proto__":{"admin":true},"constructor":1}'))
  assert.ok(parsed.ok)
  assert.deepEqual([...parsed.fields.keys()], ['__proto__', 'constructor'])
  assert.equal(Object.getPrototypeOf(parsed.value), Object.prototype)
  assert.equal(Reflect.get({}, 'admin'), undefined)
})

test('property: any object is accepted, and every offset cuts out exactly its value', () => {
  const spaces = fc.constantFrom(0, 1, 4)
  fc.assert(
    fc.property(fc.dictionary(anyText(), fc.jsonValue()), spaces, (o, n) => {
      const text = JSON.stringify(o, null, n).toWellFormed()
      const expected = JSON.parse(text)
      const keys = Object.keys(expected)
      fc.pre(new Set(keys.map((key) => key.toUpperCase().toLowerCase())).size === keys.length)
      compareSteps(Buffer.from(text))
      const parsed = parseRequestJson(Buffer.from(text))
      assert.ok(parsed.ok)
      assert.deepEqual(new Set(parsed.fields.keys()), new Set(keys))
      for (const [key, raw] of rawMembers(text)) {
        assert.deepEqual(JSON.parse(raw), expected[key])
      }
    }),
  )
})

test('property: rubbish is refused or parsed, never thrown', () => {
  const pieces = fc.constantFrom('{', '}', '[', ']', '"', '\\', ':', ',', '1e9', 'null', ' ', 'é')
  fc.assert(
    fc.property(fc.array(pieces), (parts) => {
      const body = `{"a":${parts.join('')}`
      compareSteps(Buffer.from(body))
      const parsed = parseRequestJson(Buffer.from(body))
      if (parsed.ok) assert.deepEqual(parsed.value, JSON.parse(body))
    }),
    { numRuns: 2000 },
  )
})
