/**
 * A key that is written with an escape is read as vendors read it. The engine takes one for a key
 * of earlier objects that begins as it is written, so earlier requests could hide it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRequestJson } from '../../server/wire/dialects/request-json/parse.ts'

/** The escape takes six characters, and the decoy is what the key's first ten look like. */
const ESCAPED = 'max_tok\\u0065ns'
const DECOY = 'max_tok\\\\u0'

function read(text: string): unknown {
  const parsed = parseRequestJson(Buffer.from(text))
  assert.ok(parsed.ok)
  return parsed.value
}

const FORMS: Readonly<Record<string, (key: string, text: string) => string>> = {
  'of the body': (key, text) => `{"first":"${text}","${key}":5}`,
  'of an object in it': (key, text) => `{"text":"${text}","inner":{"first":1,"${key}":5}}`,
  'of an object in a list': (key, text) => `{"text":"${text}","list":[1,{"first":1, "${key}" :5}]}`,
}

for (const [name, form] of Object.entries(FORMS)) {
  for (const length of [1, 20_000, 1_100_000]) {
    test(`an escaped key ${name} with ${length} characters is read`, () => {
      const text = 'x'.repeat(length)
      for (let times = 0; times < 3; times += 1) JSON.parse(form(DECOY, text))
      assert.deepEqual(read(form(ESCAPED, text)), JSON.parse(form('max_tokens', text)))
      assert.deepEqual(read(form(DECOY, text)), JSON.parse(form(DECOY, text)))
    })
  }
}
