/** Which languages go together: each pair of codes in each mode, by the table’s three rules. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  checkLanguages,
  completeLanguages,
  SOURCE_LANGUAGES,
  TARGET_LANGUAGES,
} from '../../../server/wire/dialects/interpretation/languages.ts'

const EIGHT = new Set('zh en de fr es id ja pt'.split(' '))
const PIVOTS = new Set(['zh', 'en'])

function isPossible(source: string, target: string, mode: 's2t' | 's2s', hasVoice: boolean) {
  if (source === 'zhen' || target === 'zhen') return source === target
  if (source === target || !(PIVOTS.has(source) || PIVOTS.has(target))) return false
  if (mode === 's2t') return true
  return hasVoice ? PIVOTS.has(target) : EIGHT.has(source) && EIGHT.has(target)
}

test('every pair, in every mode', () => {
  let possible = 0
  for (const source of SOURCE_LANGUAGES) {
    for (const target of TARGET_LANGUAGES) {
      for (const [mode, hasVoice] of [
        ['s2t', false],
        ['s2s', false],
        ['s2s', true],
      ] as const) {
        const check = () => checkLanguages({ source, target }, mode, hasVoice)
        const title = `${source} to ${target}, ${mode}, ${hasVoice}`
        if (isPossible(source, target, mode, hasVoice)) {
          assert.doesNotThrow(check, title)
          possible += 1
        } else {
          assert.throws(check, { name: 'InvalidRequest' }, title)
        }
      }
    }
  }
  assert.equal(SOURCE_LANGUAGES.length, 23)
  assert.equal(TARGET_LANGUAGES.length, 21)
  assert.ok(possible > 100)
})

test('what is left out is completed to a pair that is possible', () => {
  for (const code of ['', ...TARGET_LANGUAGES]) {
    checkLanguages(completeLanguages('', code), 's2t', false)
    checkLanguages(completeLanguages(code, ''), 's2t', false)
  }
})
