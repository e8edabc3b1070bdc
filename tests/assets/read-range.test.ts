import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRange } from '../../server/work/assets/read-range.ts'

const CASES: [string | undefined, ReturnType<typeof readRange>][] = [
  [undefined, undefined],
  ['bytes=0-0', { start: 0, end: 0 }],
  ['bytes=2-', { start: 2, end: 9 }],
  ['bytes=2-100', { start: 2, end: 9 }],
  ['bytes=-3', { start: 7, end: 9 }],
  ['bytes=-100', { start: 0, end: 9 }],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=10-', 'unsatisfiable'],
  ['bytes=5-2', undefined],
  ['bytes=0-1,4-5', undefined],
  ['bytes=-', undefined],
  ['items=0-1', undefined],
]

test('one range of ten bytes', () => {
  for (const [header, expected] of CASES) {
    assert.deepEqual(readRange(header, 10), expected, String(header))
  }
})
