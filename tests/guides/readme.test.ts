/** The first page, in both languages: the same commands, headings, tables and places. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { drawFrontier, FRONTIER } from '../../scripts/build-frontier.ts'
import { ROOT, readCommands } from './read-commands.ts'

const read = (name: string) => readFileSync(join(ROOT, name), 'utf8')
const [english, chinese] = [read('README.md'), read('README.zh-CN.md')]

test('names only commands of package.json, the two first ones first', () => {
  const manifest = JSON.parse(read('package.json'))
  const named = [...english.matchAll(/^npm (?:run )?([\w:]+)/gm)].map(({ 1: name = '' }) => name)
  assert.deepEqual(named, ['start', 'test'])
  assert.match(readCommands('README.md')[0]?.text ?? '', /^npm start /)
  const proofs = [...english.matchAll(/npm run ([\w:]+)/g)].map(({ 1: name = '' }) => name)
  for (const name of [...named, ...proofs]) assert.ok(manifest.scripts[name], name)
})

test('is the same page in Chinese', () => {
  const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([found]) => found)
  const parts = (text: string) => ({
    headings: all(text, /^#+(?= )/gm),
    commands: all(text, /^```[\s\S]*?^```/gm),
    rows: all(text, /^\|/gm).length,
    pictures: all(text, /^!\[/gm).length,
    // Pictures of the console and headings within the page are in the page's own language.
    places: all(text, /\]\((?!#)[^)]+\)/g)
      .filter((place) => !/README|-(?:zh|light)\.jpg/.test(place))
      .sort(),
  })
  assert.deepEqual(parts(chinese), parts(english))
  assert.ok(english.includes('](README.zh-CN.md)') && chinese.includes('](README.md)'))
})

test('shows the figure of the board that is recorded', () => {
  assert.equal(readFileSync(FRONTIER, 'utf8'), drawFrontier())
})
