/** An `error` beside images is none: they were made, and are charged. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readImagesBody } from '../../../server/wire/dialects/images/read-answer.ts'

const data = [{ url: 'https://m.example/a.png' }]

for (const error of [
  null,
  '',
  {},
  { code: '', message: '' },
  { code: null, param: null },
  'one of two was refused',
  { code: 'OutputImageSensitiveContentDetected', message: 'one of two was refused' },
]) {
  test(`${JSON.stringify(error)} beside an image`, () => {
    const reading = readImagesBody({ data, error })
    assert.deepEqual([reading.error, reading.usage], [undefined, { image: 1 }])
  })
}

for (const error of [
  'overloaded',
  { message: 'overloaded' },
  { code: 'Overloaded' },
  { type: 'x' },
]) {
  test(`${JSON.stringify(error)} in place of images`, () => {
    for (const data of [[], [{ error }], [{ url: '' }], undefined]) {
      const reading = readImagesBody({ data, error })
      assert.ok(reading.error)
      assert.equal(reading.outputBytes, 0)
    }
  })
}
