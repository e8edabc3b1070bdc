/**
 * Filled texts: a space stands between Chinese and other writing, never within Chinese, and a value
 * does not reverse the words around it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillText } from '../../../console/src/lib/texts.ts'

test('a space beside a value goes where both sides are Chinese', () => {
  for (const [text, values, filled] of [
    ['每 {unit}', { unit: '秒' }, '每秒'],
    ['每 {unit}', { unit: '5 秒' }, '每 5 秒'],
    ['{count} {unit}', { count: '百万', unit: '字符' }, '百万字符'],
    ['{count} {unit}', { count: 500, unit: '字符' }, '500 字符'],
    ['已创建 {name} 了', { name: '大河 公司' }, '已创建大河 公司了'],
    ['已创建 {name} 了', { name: 'Acme' }, '已创建 Acme 了'],
    ['{name} was created', { name: '大河' }, '大河 was created'],
    ['{left} or {other}', { left: 'one' }, 'one or {other}'],
    ['invited {name} as viewer', { name: 'a\u202eb\u2067c' }, 'invited abc as viewer'],
  ] as const) {
    assert.equal(fillText(text, values), filled)
  }
})
