/** A body that is parsed in pieces means what `JSON.parse` makes of it, or is refused as it would. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { scanJson } from '../../server/wire/dialects/json-scan.ts'
import { parseRequestJson } from '../../server/wire/dialects/request-json/parse.ts'
import { parsePieces } from '../../server/wire/dialects/request-json/parse-pieces.ts'

const REFUSED = Symbol('refused')

function orRefused(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    assert.ok(error instanceof SyntaxError)
    return REFUSED
  }
}

/** Compares both for a body that the scan accepts; returns whether it was one. */
function compare(text: string): boolean {
  const bytes = Buffer.from(text)
  const scan = scanJson(bytes)
  if (!scan.ok) return false
  const whole = orRefused(() => JSON.parse(text))
  const inPieces = orRefused(() => parsePieces(bytes, scan))
  assert.deepEqual(inPieces, whole)
  // The order of the members, too.
  assert.equal(JSON.stringify(inPieces), JSON.stringify(whole))
  return true
}

const LONG = 'a "quoted" \\ word\n, [and] {é} 请 '.repeat(10)
const item = fc.oneof(
  fc.constantFrom<unknown>(LONG, '', ',', '请', null, -0, 1e21, {}, [], [LONG], { a: LONG }),
  fc.jsonValue({ maxDepth: 3 }),
)
const body = fc.dictionary(
  fc.oneof(fc.constantFrom('messages', '__proto__', 'constructor', '1', 'a\nb'), fc.string()),
  fc.oneof(fc.array(item, { maxLength: 12 }), item),
  { maxKeys: 6 },
)
const space = fc.constantFrom(undefined, 1, '\t', ' \r\n')

test('every document is parsed in pieces as it is at once', () => {
  let seen = 0
  fc.assert(
    fc.property(body, space, (value, indent) => {
      if (compare(JSON.stringify(value, undefined, indent as string))) seen += 1
    }),
    { numRuns: 1_000 },
  )
  assert.ok(seen > 500, `${seen}`)
})

test('a document that is spoilt anywhere is refused in pieces as it is at once', () => {
  const spoilt = fc.record({
    value: body,
    at: fc.nat(),
    removed: fc.nat({ max: 3 }),
    added: fc.constantFrom(
      '',
      ',',
      ' ,',
      '[',
      ']',
      '{',
      '}',
      '"',
      ':',
      '1',
      'x',
      '],[',
      '},{',
      '\n',
    ),
  })
  let seen = 0
  fc.assert(
    fc.property(spoilt, ({ value, at, removed, added }) => {
      const text = JSON.stringify({ messages: [LONG, LONG, 1, [LONG]], ...value })
      const place = at % text.length
      if (compare(text.slice(0, place) + added + text.slice(place + removed))) seen += 1
    }),
    { numRuns: 1_500 },
  )
  assert.ok(seen > 1_000, `${seen}`)
})

test('nothing may be missing between items, before them or behind the document', () => {
  const long = JSON.stringify(LONG)
  const lists = [`${long},`, `,${long}`, `${long},,${long}`, `${long}, ,1`, `1 2,${long}`]
  for (const list of [...lists, `${long},1`, `${long}, [1]`, ` ${long} , 1 `]) {
    assert.ok(compare(`{"a":[${list}],"b":1}`), list)
  }
  assert.ok(compare(`{"a":[${long},1},"b":1}`))
  for (const end of ['', '}}', '} x', ']', '} ']) {
    assert.ok(compare(`{"a":[${long},${long}]${end}`), end)
  }
})

test('a long body is parsed in pieces, with its members in their order', () => {
  const value = { model: 'm', messages: Array(100).fill(LONG), n: 1 }
  const text = JSON.stringify(value).replace('"n":1', '"__proto__":{"a":[1,2]},"n":1')
  const parsed = parseRequestJson(Buffer.from(text))
  assert.ok(parsed.ok)
  assert.equal(JSON.stringify(parsed.value), JSON.stringify(JSON.parse(text)))
  for (const spoilt of [text.slice(0, -1), text.replace('","', '"",'), `${text} x`]) {
    const refused = parseRequestJson(Buffer.from(spoilt))
    assert.equal(refused.ok, false)
  }
})
