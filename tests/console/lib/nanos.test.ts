import assert from 'node:assert/strict'
import { test } from 'node:test'
import { earningsPlaces } from '../../../console/src/features/operator-overview/earnings-places.ts'
import { placesToAddUp, plainNumber } from '../../../console/src/lib/nanos.ts'

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

test('amounts have as many digits as it takes for them to add up', () => {
  assert.equal(placesToAddUp('0.016', ['0.034'], ['0.018']), 3)
  assert.equal(placesToAddUp('0.02', ['0.034'], ['0.014']), 2)
  assert.equal(placesToAddUp('-0.016', ['0.018'], ['0.034']), 3)
  assert.equal(placesToAddUp('17.75', ['12.125', '5.625']), 3)
  // Each of these is rounded down, and only their last digits make up for it.
  assert.equal(placesToAddUp('4.333333332', Array(3).fill('1.444444444')), 9)
  assert.equal(placesToAddUp('0', ['0'], ['0']), 2)
})

test('amounts that do not add up have the usual digits', () => {
  assert.equal(placesToAddUp('1', ['2.123456789'], ['0.5']), 2)
})

test('revenue of which a part has an unknown cost is shown with the usual digits', () => {
  const row = { revenue: '0.034', upstream_cost: '0.018', margin: '0.016' }
  assert.equal(earningsPlaces({ ...row, uncosted_share: 0 }), 3)
  assert.equal(earningsPlaces({ ...row, uncosted_share: 0.2 }), 2)
})
