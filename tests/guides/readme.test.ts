import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from './read-commands.ts'

test('the README names only commands of package.json', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const named = [...readme.matchAll(/^npm (?:run )?([\w:]+)/gm)].map(({ 1: name = '' }) => name)
  assert.deepEqual(named, ['start', 'test'])
  for (const name of named) assert.ok(manifest.scripts[name], name)
})
