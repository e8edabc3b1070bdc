/** Differences of two values of JSON: none only if they are the same. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findDifferences } from '../../server/base/lib/differences.ts'

const same: readonly (readonly [unknown, unknown])[] = [
  [
    { a: 1, b: [{ c: null }] },
    { b: [{ c: null }], a: 1 },
  ],
  [{ a: undefined, b: {} }, { b: {} }],
]

test('the order of members and undefined ones make no difference', () => {
  for (const [before, after] of same) assert.deepEqual(findDifferences(before, after), [])
})

const different: readonly (readonly [unknown, unknown, string])[] = [
  [{ a: 1 }, { a: '1' }, 'a'],
  [{ a: [] }, { a: {} }, 'a'],
  [{ a: [1, 2] }, { a: [1] }, 'a[1]'],
  [{ a: { b: 1 } }, { 'a.b': 1 }, 'a.b ["a.b"]'],
  [{ a: ['x'] }, { 'a[0]': 'x' }, 'a[0] ["a[0]"]'],
  [{ a: { 'b.c': 1 } }, { a: { b: { c: 1 } } }, 'a["b.c"] a.b.c'],
]

test('each changed leaf is named by a path of its own', () => {
  for (const [before, after, paths] of different) {
    const found = findDifferences(before, after).map(({ path }) => path)
    assert.equal(found.join(' '), paths)
  }
})
