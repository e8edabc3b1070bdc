import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  estimateTokens,
  estimateTokensOfBytes,
} from '../../server/base/lib/text/estimate-tokens.ts'

test('four ASCII characters make a token, any other character makes one', () => {
  assert.equal(estimateTokens(''), 0)
  assert.equal(estimateTokens('a'), 1)
  assert.equal(estimateTokens('a'.repeat(400)), 100)
  assert.equal(estimateTokens('世界'), 2)
  assert.equal(estimateTokens('abcd世界'), 3)
})

test('a character outside of the basic plane is one character', () => {
  assert.equal(estimateTokens('👋'), 1)
})

test('of bytes alone', () => {
  assert.equal(estimateTokensOfBytes(0), 0)
  assert.equal(estimateTokensOfBytes(9), 3)
})
