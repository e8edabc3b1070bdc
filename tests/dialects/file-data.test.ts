import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readDataUrl } from '../../server/wire/dialects/file-data.ts'

/** What a data URL is, in one expression; quadratic, so for short texts only. */
const DEFINITION = /^data:([^;,]*)[^,]*;base64,/

test('a data URL is read wherever its definition finds one, and only there', () => {
  const piece = fc.constantFrom('data:', ';base64', ',', ';', 'image/png', 'AAAA', '\n', 'Data:')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 9 }), (pieces) => {
      const url = pieces.join('')
      const match = DEFINITION.exec(url)
      const expected = match ? { media: match[1], data: url.slice(match[0].length) } : undefined
      assert.deepEqual(readDataUrl(url), expected)
    }),
    { numRuns: 2000 },
  )
})
