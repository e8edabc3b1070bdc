/** Access tokens: the published shape, and that neither kind of secret passes for the other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createTokenText,
  displayAccessToken,
  hashAccessToken,
  isWellFormedAccessToken,
} from '../../server/base/lib/secrets/access-token.ts'
import { createApiKey, isWellFormedApiKey } from '../../server/base/lib/secrets/api-key.ts'
import { createSecretForm } from '../../server/base/lib/secrets/secret-form.ts'

const PUBLISHED = /\btra-[0-9A-Za-z]{49}\b/

test('a token has the published shape, and its checksum fits', () => {
  const tokens = Array.from({ length: 200 }, createTokenText)
  assert.equal(new Set(tokens).size, 200)
  for (const token of tokens) {
    assert.match(`token=${token};`, PUBLISHED)
    assert.ok(isWellFormedAccessToken(token))
    const last = token.endsWith('0') ? '1' : '0'
    assert.equal(isWellFormedAccessToken(token.slice(0, -1) + last), false)
  }
})

test('a token is no key and a key no token, even with the other’s prefix', () => {
  const token = createTokenText()
  const key = createApiKey()
  assert.equal(isWellFormedApiKey(token), false)
  assert.equal(isWellFormedAccessToken(key), false)
  assert.equal(isWellFormedAccessToken(key.replace('tr-', 'tra-')), false)
  assert.equal(isWellFormedApiKey(token.replace('tra-', 'tr-')), false)
  const similar = createSecretForm('trb-').create()
  assert.equal(isWellFormedAccessToken(similar), false)
})

test('it is displayed by its ends and stored as 32 bytes', () => {
  const token = createTokenText()
  assert.equal(displayAccessToken(token), `${token.slice(0, 8)}…${token.slice(-4)}`)
  assert.equal(hashAccessToken(token).length, 32)
})
