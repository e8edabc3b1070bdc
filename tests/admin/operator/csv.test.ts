/** Cells that a spreadsheet would run as formulas are text in an export. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeRow } from '../../../server/api/admin/account/usage/csv.ts'

test('a cell that begins with a sign of formulas, in any width, gets an apostrophe', () => {
  for (const sign of [
    '=',
    '+',
    '-',
    '@',
    '\t',
    '＝',
    '＋',
    '－',
    '＠',
    '−',
    '﹢',
    '﹣',
    '﹦',
    '﹫',
  ]) {
    assert.equal(encodeRow([`${sign}SUM(A1)`]), `'${sign}SUM(A1)\r\n`)
  }
  assert.equal(encodeRow(['-1.5', 'a＝b', 'a=b', -2]), '-1.5,a＝b,a=b,-2\r\n')
})
