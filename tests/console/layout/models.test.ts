/** The lists of models: compact rows, and the same names of types for operators and customers. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from '../../support/browser.ts'
import { expectAccessible, expectFits, type Look } from '../support/browser.ts'
import { arrive, leave } from '../support/journey.ts'
import { type ConsoleStage, startConsoleStage } from '../support/stage.ts'

const OPERATOR = { operator: true, role: 'owner' } as const
const PHONE: Look = { width: 390, height: 844 }
/** A heading, two prices of two lines each, a label with its figure, and the padding. */
const CARD_HEIGHT_MAX = 170
/** Two prices of two lines each. */
const ROW_HEIGHT_MAX = 96

/** Heights in pixels; a line of text is 20 high at most. */
const MEASURE = `[...document.querySelectorAll('tbody tr')].map((row) => ({
  row: row.offsetHeight,
  status: row.querySelector('td:last-child [data-tone]').offsetHeight,
}))`

const measureRows = (page: Page) => page.evaluate<{ row: number; status: number }[]>(MEASURE)

async function listTypes(page: Page): Promise<string[]> {
  await page.getByRole('combobox', { name: 'Type' }).click()
  const names = await page.getByRole('option').allInnerTexts()
  await page.keyboard.press('Escape')
  return names
}

describe('the lists of models', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  for (const [look, heightMax] of [
    [{}, ROW_HEIGHT_MAX],
    [PHONE, CARD_HEIGHT_MAX],
  ] as const) {
    test(`a state has one line, a row few, ${JSON.stringify(look)}`, async () => {
      const watched = await stage.signedIn('/operator/models', OPERATOR, look)
      const { page } = watched
      await arrive(page, 'Models & prices')
      await page.getByText('Example prices').first().waitFor()
      const rows = await measureRows(page)
      assert.ok(rows.length > 10)
      const high = rows.filter(({ row, status }) => row > heightMax || status > 24)
      assert.deepEqual(high, [])
      await leave(watched)
    })
  }

  test('types have the same names for customers, operators and their channels', async () => {
    const watched = await stage.signedIn('/models', OPERATOR)
    const { page } = watched
    await arrive(page, 'Models')
    const names = await listTypes(page)
    assert.ok(names.includes('Subtitle erasure') && names.includes('Image'))
    await page.goto(`${stage.console}/operator/models`)
    await arrive(page, 'Models & prices')
    assert.deepEqual(await listTypes(page), names)
    const shown = await page.locator('tbody td:nth-child(2)').allInnerTexts()
    assert.deepEqual(
      shown.filter((name) => !names.includes(name)),
      [],
    )
    await leave(watched)
  })

  test('the sentence of a short state is on hover and in the details', async () => {
    const watched = await stage.signedIn('/operator/models', OPERATOR)
    const { page } = watched
    const sentence = 'its prices are examples: set your own'
    const row = page.getByRole('row', { name: /^sim-chat / })
    await row.getByText('Example prices').hover()
    await page.getByRole('tooltip', { name: sentence }).waitFor()
    await row.getByRole('button', { name: 'sim-chat' }).click()
    await page.getByRole('dialog').getByText(sentence).waitFor()
    await expectFits(page)
    await expectAccessible(page)
    await leave(watched)
  })
})
