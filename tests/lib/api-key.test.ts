/** Keys: shape, strength and the checksum that refuses junk before any look-up. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  createApiKey,
  displayApiKey,
  hashApiKey,
  isWellFormedApiKey,
} from '../../server/base/lib/secrets/api-key.ts'
import { anyText } from '../support/any-text.ts'

test('a key has the published shape and 256 bits', () => {
  const keys = new Set(Array.from({ length: 1000 }, createApiKey))
  assert.equal(keys.size, 1000)
  for (const key of keys) {
    assert.match(key, /^tr-[0-9A-Za-z]{49}$/)
    assert.ok(isWellFormedApiKey(key))
  }
  assert.ok(43 * Math.log2(62) > 256)
})

test('one changed, swapped, lost or added character is refused', () => {
  fc.assert(
    fc.property(fc.nat(51), fc.string({ minLength: 1, maxLength: 1 }), (index, character) => {
      const key = createApiKey()
      const changed = key.slice(0, index) + character + key.slice(index + 1)
      assert.equal(isWellFormedApiKey(changed), changed === key)
      assert.equal(isWellFormedApiKey(key.slice(0, index) + key.slice(index + 1)), false)
      assert.equal(isWellFormedApiKey(key.slice(0, index) + character + key.slice(index)), false)
    }),
    { numRuns: 2000 },
  )
})

test('junk is refused whatever it is', () => {
  fc.assert(fc.property(anyText(), (text) => !isWellFormedApiKey(text)))
  for (const junk of [
    '',
    'tr-',
    `sk-${'a'.repeat(49)}`,
    `tr-${'0'.repeat(49)}`,
    'tr-é'.repeat(13),
  ]) {
    assert.equal(isWellFormedApiKey(junk), false)
  }
})

test('the hash is SHA-256 of the whole key, the display tells nearly nothing', () => {
  const key = createApiKey()
  assert.deepEqual(hashApiKey(key), createHash('sha256').update(key).digest())
  assert.equal(displayApiKey(key), `${key.slice(0, 7)}…${key.slice(-4)}`)
})
