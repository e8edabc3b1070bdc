/** Models side by side in a browser, presets, and the figures of the comparison. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  findBest,
  readFigures,
} from '../../../console/src/features/playground/compare/comparison.ts'
import {
  readPresets,
  removePreset,
  savePreset,
} from '../../../console/src/features/playground/presets/stored-presets.ts'
import { noBrowser } from '../../support/browser.ts'
import { expectAccessible, expectFits, keepToasts, PHONE } from '../support/browser.ts'
import { leave } from '../support/journey.ts'
import { type ConsoleStage, startConsoleStage } from '../support/stage.ts'
import { codeOf } from './support.ts'

test('figures: the rate counts from the first token, the best is the only one', () => {
  const usage = { input: 9, output: 30, cached: 0 }
  const result = { text: 'a', reasoning: '', usage, firstMs: 500 }
  const done = readFigures({ phase: 'done', result, milliseconds: 2000 })
  assert.deepEqual(done, { firstMs: 500, totalMs: 2000, rate: 20, input: 9, output: 30 })
  assert.equal(readFigures({ phase: 'stopped', result, milliseconds: 900 }).totalMs, undefined)
  assert.equal(readFigures({ phase: 'done', result, milliseconds: 501 }).rate, undefined)
  assert.equal(findBest([3, 1, 2], 'lowest'), 1)
  assert.equal(findBest([3, 1, 2], 'highest'), 0)
  assert.equal(findBest([1, 1, 2], 'lowest'), undefined)
  assert.equal(findBest([1, undefined], 'lowest'), undefined)
})

test('presets are kept by name, and nonsense in the browser counts as none', () => {
  const kept = new Map<string, string>()
  const storage = {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
  }
  const preset = { name: 'mine', system: 's', draft: 'd', temperature: 0.5, maxTokens: '' }
  savePreset(storage, preset)
  savePreset(storage, { ...preset, draft: 'e' })
  assert.deepEqual(readPresets(storage), [{ ...preset, draft: 'e' }])
  assert.deepEqual(removePreset(storage, 'mine'), [])
  for (const text of ['{', '{}', '[1, {"name": 2}]', 'null']) {
    kept.set('tributary.presets', text)
    assert.deepEqual(readPresets(storage), [], text)
  }
})

describe('models side by side', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  test('three models answer one prompt, and every charge is the ledger’s', async () => {
    const watched = await stage.signedIn('/playground?kind=compare')
    const { page } = watched
    const models = page.getByRole('combobox', { name: /^Model \d/ })
    await models.nth(2).click()
    await page.getByRole('option').first().click()
    await page.getByRole('combobox', { name: 'Preset' }).click()
    await page.getByRole('option', { name: 'Short facts' }).click()
    const prompt = page.getByRole('textbox', { name: 'One prompt for all' })
    assert.match(await prompt.inputValue(), /longest river/)
    await page.getByRole('button', { name: 'Send to 3 models' }).click()
    const table = page.getByRole('table', { name: 'Comparison' })
    const charges = table.getByRole('row', { name: /^Charge/ }).getByRole('link')
    await charges.nth(2).waitFor()
    const tokens = await table.getByRole('row', { name: /^Tokens in/ }).innerText()
    assert.equal(tokens.match(/\d+ \/ \d+/g)?.length, 3, tokens)
    const times = await table.getByRole('row', { name: /^Total time/ }).innerText()
    assert.equal(times.match(/\d m?s/g)?.length, 3, times)
    const shown = (await charges.allInnerTexts()).map((text) => text.replace(/[^\d.]/g, ''))
    const rows = await stage.sql<{ charged: number }[]>`
      select (charged / 1e9)::float8 as charged from call`
    assert.deepEqual(shown.map(Number).sort(), rows.map(({ charged }) => charged).sort())
    await expectAccessible(page)
    const code = await codeOf(page, 'Python')
    assert.match(code, /longest river/)
    await leave(watched)
  })

  test('a preset is saved, survives a reload, and is deleted', async () => {
    const watched = await stage.signedIn('/playground?kind=chat')
    const { page } = watched
    await page.getByRole('textbox', { name: 'System prompt' }).fill('Speak like a miller.')
    await keepToasts(page)
    await page.getByRole('button', { name: 'Save as preset' }).click()
    const dialog = page.getByRole('dialog', { name: 'Save as preset' })
    await dialog.getByLabel('Name').fill('Miller')
    await dialog.getByRole('button', { name: 'Save as preset' }).click()
    await page.getByText('Preset Miller saved').waitFor()
    await page.goto(`${stage.console}/playground?kind=compare`)
    await page.getByRole('combobox', { name: 'Preset' }).click()
    await page.getByRole('option', { name: 'Miller' }).click()
    const system = page.getByRole('textbox', { name: 'System prompt' })
    assert.equal(await system.inputValue(), 'Speak like a miller.')
    await keepToasts(page)
    await page.getByRole('button', { name: 'Delete preset' }).click()
    await page.getByText('Preset Miller deleted').waitFor()
    await leave(watched)
  })

  test('it fits a phone', async () => {
    const phone = await stage.signedIn('/playground?kind=compare', {}, PHONE)
    await phone.page.getByRole('button', { name: 'Send to 2 models' }).waitFor()
    await expectFits(phone.page)
    await expectAccessible(phone.page)
    await leave(phone)
  })
})
