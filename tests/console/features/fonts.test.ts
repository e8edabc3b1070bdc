import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

// Read as text: importing the theme would bring the types of a browser here.
const THEME = join(import.meta.dirname, '../../../console/src/app/theme.ts')

test('every Latin face stands before every Chinese one', () => {
  const [, stack = ''] = /const FONT =([\s\S]*?)\nconst /.exec(readFileSync(THEME, 'utf8')) ?? []
  const faces = [...stack.matchAll(/"([^"]+)"|\b(Roboto|Arial)\b/g)].map(
    ({ 1: quoted, 2: bare }) => quoted ?? bare ?? '',
  )
  const isChinese = (face: string) => /PingFang|YaHei|CJK| SC$|WenQuanYi/.test(face)
  const firstChinese = faces.findIndex(isChinese)
  assert.ok(firstChinese > 0)
  assert.ok(['Noto Sans', 'DejaVu Sans', 'Arial'].every((face) => faces.includes(face)))
  assert.deepEqual(
    faces.slice(firstChinese).filter((face) => !isChinese(face)),
    [],
  )
})
