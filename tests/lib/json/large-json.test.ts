/** Long JSON is read as JSON.parse reads it, in short steps and with little text at once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseLargeJson } from '../../../server/base/lib/json/large-json.ts'
import { anyText } from '../../support/any-text.ts'

const MB = 1024 ** 2

function parse(bytes: Buffer) {
  const steps = parseLargeJson(bytes)
  for (let count = 0; ; count += 1) {
    const { done, value } = steps.next()
    if (done) return { value, steps: count }
  }
}

/** Both as JSON, which shows the order of members as well, or undefined where it is none. */
function compare(text: string): void {
  const read = (work: () => unknown) => {
    try {
      return JSON.stringify(work())
    } catch (error) {
      assert.ok(error instanceof SyntaxError, String(error))
      return undefined
    }
  }
  const bytes = Buffer.from(text)
  assert.equal(
    read(() => parse(bytes).value),
    read(() => JSON.parse(bytes.toString())),
    text,
  )
}

const long = fc.constantFrom('a', 'é', '中', '😀', '"', '\\', '\n').map((one) => one.repeat(600))

test('property: it is what JSON.parse returns, whole or damaged', () => {
  const key = fc.oneof(anyText(), fc.constantFrom('__proto__', '1', '0', 'a', ''))
  const leaf = fc.oneof(fc.jsonValue(), long)
  const node = fc.oneof(leaf, fc.array(leaf), fc.array(fc.dictionary(key, leaf)))
  const damage = fc.tuple(fc.nat(), fc.nat(3), fc.constantFrom(...'{}[]",:\\01-.eE+tn \u0001'))
  fc.assert(
    fc.property(fc.dictionary(key, node), fc.constantFrom(0, 1), damage, (value, space, change) => {
      const text = JSON.stringify(value, null, space).toWellFormed()
      compare(text)
      const [place, removed, added] = change
      const at = place % text.length
      compare(`${text.slice(0, at)}${added}${text.slice(at + removed)}`.toWellFormed())
    }),
    { numRuns: 150 },
  )
})

test('what JSON refuses is refused, and the last of two keys counts', () => {
  const texts = `'' | [ | ] | {} | [] | [1,] | [,1] | {"a":1,} | {"a"} | {"a":} | {a:1} | {"a":1]
    [1} | [1 2] | {"a":1 "b":2} | 1 2 | {}{} | 01 | 1. | -  | +1 | .5 | tru | nul1 | "a | "\\x" | "\\u12"
    "\t" | [1]x | {"a":1,"b":2,"a":3} | {"b":1,"1":2,"0":3} | {"__proto__":{"a":1}} | NaN | 1e999
    {"__proto__":1,"__proto__":[2]} | [[[]],[[]]] | {"a":{"b":{}}} | "\\ud800" | -0 | 1E+2 | \ufeff{}`
  for (const text of texts.split(/\s*[|\n]\s*/)) {
    compare(text)
    compare(`[${text}, "${'x'.repeat(600)}"]`)
  }
})

const CONTENTS = ['ab ', 'ab 中', '中文', '😀é', 'say \\"hi\\"\\n'].map((one) => one.repeat(300))
const PLAIN = `"${'ab '.repeat(300)}"`
const manyOf = (contents: readonly string[], count: number) => {
  const messages = Array.from({ length: count }, (_, at) => {
    return `{"role":"user","content":${contents[at % contents.length]}}`
  })
  return `{"model":"m","messages":[${messages.join()}],"stream":true}`
}

test('strings across the ends of texts are whole, in any script', () => {
  const written = CONTENTS.map((content) => `"${content}"`)
  for (const contents of [written, ...written.map((one) => [one])]) compare(manyOf(contents, 2_500))
  compare(`["${'x'.repeat(5 * MB)}","${'中'.repeat(MB)}\\n"]`)
})

test('a step reads a megabyte, no text is longer than two, and all are as long as the bytes', (t) => {
  const large = `"${'ab '.repeat(350_000)}"`
  for (const bytes of [manyOf([PLAIN], 9_000), manyOf([large], 8)].map((one) => Buffer.from(one))) {
    const toText = t.mock.method(Buffer.prototype, 'toString')
    const { steps } = parse(bytes)
    const texts: number[] = toText.mock.calls.map(({ result }: { result: string }) => result.length)
    toText.mock.restore()
    assert.ok(steps >= Math.floor(bytes.length / 2 / MB), `${steps} steps`)
    assert.ok(Math.max(...texts) <= 2 * MB)
    const inAll = texts.reduce((sum, one) => sum + one, 0)
    assert.ok(inAll <= bytes.length * 1.1, `${inAll} of ${bytes.length} bytes`)
    // Long strings are not copied out of their texts.
    assert.ok(texts.filter((length) => length > 100).length <= bytes.length / MB)
  }
})
