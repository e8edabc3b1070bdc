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

test('a formula that begins a cell only where semicolons divide cells gets one too', () => {
  assert.equal(encodeRow(['a;=SUM(A1)', 'a\n@SUM(A1)']), 'a;\'=SUM(A1),"a\n\'@SUM(A1)"\r\n')
  assert.equal(encodeRow(['a;"=SUM(A1)']), '"a;""\'=SUM(A1)"\r\n')
  assert.equal(
    encodeRow(['\t=SUM(A1)', 'a;b=c;', '2026-11-27']),
    "'\t'=SUM(A1),a;b=c;,2026-11-27\r\n",
  )
})
