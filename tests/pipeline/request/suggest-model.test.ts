/** A model that does not exist: the error names the one that was meant, where there is only one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { suggestModel } from '../../../server/work/pipeline/request/suggest-model.ts'

const SOLD = ['sim-chat', 'claude-opus-4-5', 'claude-opus-4-1', 'deepseek-v3.1', 'o3', 'z-ai/glm-5']

const cases: readonly (readonly [string, string | undefined])[] = [
  ['sim-chatt', 'sim-chat'],
  ['sim-cht', 'sim-chat'],
  ['Sim_Chat', 'sim-chat'],
  ['openai/sim-chat', 'sim-chat'],
  ['glm-5', 'z-ai/glm-5'],
  ['deepseek-v3-1', 'deepseek-v3.1'],
  ['claude-opus-4.5', 'claude-opus-4-5'],
  ['claude-opus-4-6', undefined],
  ['O3', 'o3'],
  ['o4', undefined],
  ['gpt-4o', undefined],
  ['', undefined],
  ['x'.repeat(1_000_000), undefined],
]

for (const [misspelt, found] of cases) {
  test(`${misspelt.slice(0, 20) || 'nothing'} suggests ${found ?? 'nothing'}`, () => {
    assert.equal(suggestModel(misspelt, SOLD), found)
  })
}
