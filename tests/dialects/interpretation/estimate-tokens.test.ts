/** The length of an interpretation as its model may be sold: in tokens or in seconds. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  boundTokens,
  estimateAudioTokens,
} from '../../../server/wire/dialects/interpretation/estimate-tokens.ts'
import { BYTES_PER_SECOND } from '../../../server/wire/dialects/interpretation/read-wav.ts'

const BYTES = 90.5 * BYTES_PER_SECOND

test('the seconds of the audio are held and charged, those begun included', () => {
  for (const mode of ['s2t', 's2s'] as const) {
    assert.equal(boundTokens(BYTES, mode).second, 91)
    assert.equal(estimateAudioTokens(BYTES, mode, 500, true).second, 91)
  }
})

test('an answer that broke off is charged for the seconds of its output', () => {
  const { second } = estimateAudioTokens(BYTES, 's2s', 4_000 * 10, false)
  assert.equal(second, 10)
})
