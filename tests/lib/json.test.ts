import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isTooDeep, printValue, tryParseJson } from '../../server/base/lib/json.ts'

test('any value is printed, whatever its members are called', () => {
  const odd = JSON.parse('{"toString":2,"valueOf":null,"__proto__":{"toString":3}}')
  assert.throws(() => String(odd), TypeError)
  assert.equal(printValue(odd), '{"toString":2,"valueOf":null,"__proto__":{"toString":3}}')
  assert.equal(printValue([odd, 'a']), `[${printValue(odd)},"a"]`)
  for (const plain of ['a', 1.5, true, null, undefined]) {
    assert.equal(printValue(plain), String(plain))
  }
})

test('what is nested deeper than a hundred levels is too deep', () => {
  const nest = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels))
  assert.equal(isTooDeep(nest(100)), false)
  assert.equal(isTooDeep(nest(102)), true)
  assert.equal(isTooDeep('a'), false)
})

test('a key with an escape is read as it is, whatever was read before', () => {
  const read = (text: string) => tryParseJson(Buffer.from(text))
  const fills = ['1', '"\\n:"', '{"b":"\\""}', '[ "a\\u0041" , {} ]']
  for (const fill of fills) {
    for (let times = 0; times < 3; times += 1) JSON.parse(`{"city":${fill},"\\\\u":1}`)
    const document = read(`{"city":${fill},"\\u57ce\\u5e02" :2}`)
    assert.deepEqual(document, { ...JSON.parse(`{"city":${fill}}`), 城市: 2 })
  }
  assert.deepEqual(read('\ufeff{"\\u0061":"\ufeff"}'), { a: '\ufeff' })
  for (const broken of ['{"\\u00":1}', '{"\\a":1}', '{"\\n":1', '"\\":1']) {
    assert.equal(read(broken), undefined, broken)
  }
})

test('any document is read as the engine reads it', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      assert.deepEqual(tryParseJson(Buffer.from(text)), JSON.parse(text))
    }),
  )
})

test('a document of many names of 16 KB is not parsed: the engine compares all of them', () => {
  const of = (count: number, value: string) => {
    const name = 'k'.repeat(16_000)
    const members = Array.from({ length: count }, (_, at) => `"${name}${at}" : ${value}`)
    return tryParseJson(Buffer.from(`{"a":"${name}","b":{${members.join()}}}`)) !== undefined
  }
  assert.equal(of(100, '1'), true)
  assert.equal(of(101, '1'), false)
  assert.equal(of(50, `"${'v'.repeat(40_000)}"`), true, 'long texts are cheap')
})

test('a document of half a million different names is not parsed, one of repeated names is', () => {
  const of = (count: number, name: (at: number) => string) => {
    const members = Array.from({ length: count }, (_, at) => `"${name(at)}":1`)
    return tryParseJson(Buffer.from(`{${members.join()}}`)) !== undefined
  }
  assert.equal(
    of(2 ** 19 + 1, (at) => `n${at % 10}`),
    true,
  )
  assert.equal(
    of(2 ** 19 + 1, (at) => `n${at}`),
    false,
  )
})

test('a document of millions of values is not parsed at once', () => {
  const of = (value: string, count: number) => {
    const parsed = tryParseJson(Buffer.from(`{"a":[${`${value},`.repeat(count)}""]}`))
    const list = parsed === undefined ? [] : Object.values(parsed as Record<string, unknown[]>)[0]
    return list?.length
  }
  // The document, its member and the list are values too.
  const most = 2 ** 20 - 3
  for (const value of ['[]', '{}']) {
    assert.equal(of(value, most), most + 1)
    assert.equal(of(value, most + 1), 0)
  }
  assert.equal(of('{"b":1}', most / 2 + 1), 0)
  assert.equal(of('7', 2 ** 21), 2 ** 21 + 1, 'numbers are cheap, and embeddings have many')
})

test('a large document of real values is parsed, whatever is in its texts', () => {
  const text = tryParseJson(Buffer.from(JSON.stringify({ text: '{[:"\\'.repeat(2 ** 19) })))
  assert.equal(Object.values(text as Record<string, string>)[0]?.length, 5 * 2 ** 19)
  const top_logprobs = new Array(20).fill({ token: 'a', logprob: -1.5, bytes: [97] })
  const content = new Array(10_500).fill({ token: 'a', logprob: -1.5, bytes: [97], top_logprobs })
  const read = tryParseJson(Buffer.from(JSON.stringify({ content }))) as { content: unknown[] }
  assert.equal(read?.content.length, 10_500, 'an answer of 10,500 tokens with their probabilities')
})
