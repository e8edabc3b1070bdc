import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainNumber } from '../../../console/src/lib/nanos.ts'

test('numbers are read without spaces, from a Chinese keyboard too', () => {
  assert.equal(plainNumber('  12.5\n'), '12.5')
  assert.equal(plainNumber('\u00a01\u202f200.5'), '1200.5')
  assert.equal(plainNumber('１２．５'), '12.5')
  assert.equal(plainNumber('－３'), '-3')
})

test('what could mean two numbers is left as it is, to be refused', () => {
  assert.equal(plainNumber('1,5'), '1,5')
  assert.equal(plainNumber('１，５'), '1,5')
  assert.equal(plainNumber('5😀'), '5😀')
})
