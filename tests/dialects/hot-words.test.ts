/** Hot words of a recording: words may contain spaces. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readHotWords } from '../../server/wire/dialects/minutes/hot-words.ts'

for (const [text, expected] of [
  ['New York, Tokyo', ['New York', 'Tokyo']],
  ['New York', ['New York']],
  ['豆包，字节、  Seed ;a；b\nc', ['豆包', '字节', 'Seed', 'a', 'b', 'c']],
  ['["one word, or two", {"word": "three"}]', ['one word, or two', 'three']],
  [' , ,', undefined],
] as const) {
  test(`hot words: ${JSON.stringify(text)}`, () => {
    assert.deepEqual(
      readHotWords(text)?.map(({ word }) => word),
      expected,
    )
  })
}
