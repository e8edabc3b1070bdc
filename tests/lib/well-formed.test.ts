import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  storableText,
  stringifyStorable,
  stringifyWellFormed,
} from '../../server/base/lib/text/well-formed.ts'

const CASES: readonly (readonly [name: string, value: unknown, stored: unknown])[] = [
  ['U+0000', { a: 'x\0y' }, { a: 'x\ufffdy' }],
  ['half an emoji, either half', ['a\ud83d', '\ude00b'], ['a\ufffd', '\ufffdb']],
  ['a whole emoji', '😀\0', '😀\ufffd'],
  ['a name of a member', { 'k\0\ud800': 1 }, { 'k\ufffd\ufffd': 1 }],
  ['what only looks like an escape', 'a\\u0000 \\ud800 \\\\u0000', 'a\\u0000 \\ud800 \\\\u0000'],
  ['a backslash before the real one', '\\\0', '\\\ufffd'],
  ['other escapes', '\u0001\n"\\', '\u0001\n"\\'],
]

for (const [name, value, stored] of CASES) {
  test(`${name} can be stored`, () =>
    assert.deepEqual(JSON.parse(stringifyStorable(value)), stored))
}

test('text without U+0000 is the same text', () => {
  assert.equal(storableText('a\ud83d\n'), 'a\ud83d\n')
  assert.equal(storableText('a\0b\0'), 'a\ufffdb\ufffd')
})

test('any document is the same but for what cannot be encoded or stored, in names as well', () => {
  const piece = fc.constantFrom('\\', '\ud83d', '😀', '\0', 'u0000', 'ud800', '\u0001', '"')
  const text = fc.array(piece, { maxLength: 6 }).map((parts) => parts.join(''))
  const document = fc.dictionary(text, fc.oneof(text, fc.array(text, { maxLength: 3 })))
  const mapped = (value: object, change: (text: string) => string) =>
    Object.entries(value).map(([name, one]) => {
      return [change(name), Array.isArray(one) ? one.map(change) : change(one)]
    })
  fc.assert(
    fc.property(document, (value) => {
      const wellFormed = mapped(value, (one) => one.toWellFormed())
      assert.deepEqual(JSON.parse(stringifyWellFormed(value)), Object.fromEntries(wellFormed))
      const storable = mapped(value, (one) => storableText(one.toWellFormed()))
      assert.deepEqual(JSON.parse(stringifyStorable(value)), Object.fromEntries(storable))
    }),
  )
})
