/** Secrets at rest: sealed, bound to their place, and readable through a rotation of keys. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createSecretBox,
  createSecretKey,
  maskSecret,
  SecretError,
  sealedWith,
} from '../../server/base/lib/secrets/secrets.ts'

const first = createSecretKey()
const second = createSecretKey()

test('what is sealed opens again, in its own place only', () => {
  const box = createSecretBox([first])
  const sealed = box.seal('sk-geheim-äöü', 'channel:main:1')
  assert.equal(sealed.includes('geheim'), false)
  assert.equal(box.open(sealed, 'channel:main:1'), 'sk-geheim-äöü')
  assert.throws(() => box.open(sealed, 'channel:main:2'), SecretError)
  assert.notDeepEqual(box.seal('sk-geheim-äöü', 'channel:main:1'), sealed)
})

test('a changed bit anywhere is noticed', () => {
  const box = createSecretBox([first])
  const sealed = box.seal('sk-geheim', 'x')
  for (let index = 0; index < sealed.length; index += 1) {
    const changed = Buffer.from(sealed)
    changed[index] = (changed[index] ?? 0) ^ 1
    assert.throws(() => box.open(changed, 'x'), SecretError, `byte ${index}`)
  }
  assert.throws(() => box.open(sealed.subarray(0, 20), 'x'), SecretError)
  assert.throws(() => box.open(Buffer.alloc(0), 'x'), SecretError)
})

test('after a rotation the older key still opens, and new secrets use the newer one', () => {
  const old = createSecretBox([first])
  const both = createSecretBox([second, first])
  const sealed = old.seal('a', 'x')
  assert.equal(both.open(sealed, 'x'), 'a')
  const renewed = both.seal('a', 'x')
  assert.equal(sealedWith(renewed), both.keyId)
  assert.throws(() => old.open(renewed, 'x'), new RegExp(`sealed with key ${both.keyId}`))
})

test('a signature is of one text, one use and one key; older keys’ are still known', () => {
  const box = createSecretBox([first])
  const signature = box.sign('att_1', 'hook')
  assert.equal(signature.length, 32)
  assert.ok(box.isSigned(signature, 'att_1', 'hook'))
  assert.ok(!box.isSigned(signature, 'att_2', 'hook'))
  assert.ok(!box.isSigned(signature, 'att_1', 'other'))
  assert.ok(!box.isSigned(signature.subarray(0, 31), 'att_1', 'hook'))
  assert.ok(!createSecretBox([second]).isSigned(signature, 'att_1', 'hook'))
  assert.ok(createSecretBox([second, first]).isSigned(signature, 'att_1', 'hook'))
})

test('weak and absent keys are refused', () => {
  assert.throws(() => createSecretBox([]), SecretError)
  assert.throws(() => createSecretBox(['short']), /at least 32/)
  assert.ok(createSecretKey().length >= 32)
})

test('a mask shows at most four characters, and of short secrets nothing', () => {
  assert.equal(maskSecret('sk-abcdefghijklmnop'), '••••mnop')
  assert.equal(maskSecret('password'), '••••')
})
