/** The billing page: a balance that adds up, a statement, a receipt and an export. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { addUp, chargeOf } from '../../../console/src/lib/nanos.ts'
import { noBrowser } from '../../support/browser.ts'
import { expectAccessible, expectFits, expectUncut, PHONE } from '../support/browser.ts'
import { type ConsoleStage, startConsoleStage } from '../support/stage.ts'

test('amounts are added without a float', () => {
  assert.equal(addUp(['0.1', '0.2']), '0.300000000')
  assert.equal(addUp(['1'], ['2.000000001']), '-1.000000001')
  assert.equal(addUp(['-0.5', '9007199254740993']), '9007199254740992.500000000')
})

test('a line is rounded up once, as the gateway rounds it', () => {
  assert.equal(chargeOf('0.15', 1_000_000, 12), '0.000001800')
  assert.equal(chargeOf('0.000000001', 3, 1), '0.000000001')
  assert.equal(chargeOf('2', 1, 0), '0.000000000')
})

describe('billing', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
    for (let i = 0; i < 2; i++) {
      await (await stage.post('/v1/search', { Type: 'web', Query: 'rivers' })).text()
    }
    const body = { model: 'sim-chat', messages: [{ role: 'user', content: 'Hello' }] }
    await (await stage.post('/v1/chat/completions', body)).text()
  })
  after(() => stage?.stop())

  const digits = (text: string) => text.replace(/[^\d.-]/g, '')
  /** Returns the amounts of a column as they are copied: to the last digit. */
  const readExact = (page: Page, label: string) =>
    page.locator(`td[data-label="${label}"]`).evaluateAll((cells) =>
      cells.map((cell) => {
        const exact = cell.querySelector('[data-copy]')?.getAttribute('data-copy')
        return exact ?? cell.textContent ?? ''
      }),
    )

  test('each balance is the one below it plus its amount, to the last digit', async () => {
    const { page, complaints } = await stage.signedIn('/billing?view=transactions')
    await page.getByRole('cell', { name: 'Top-up' }).waitFor()
    const amounts = await readExact(page, 'Amount')
    const balances = await readExact(page, 'Balance after')
    assert.equal(amounts.length, 4)
    for (const [index, balance] of balances.entries()) {
      const below = balances[index + 1] ?? '0'
      const expected = addUp([digits(below), digits(amounts[index] ?? '')])
      assert.equal(addUp([digits(balance)]), expected)
    }
    const shown = await page.locator('td[data-label="Balance after"]').allInnerTexts()
    for (const text of shown) assert.match(text, /\.\d\d$/)
    assert.ok(balances.some((exact, index) => exact !== shown[index]))
    const last = page.locator('td[data-label="Balance after"] [data-copy]').first()
    await last.hover()
    await page
      .getByRole('tooltip', { name: (await last.getAttribute('data-copy')) ?? '' })
      .waitFor()
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Export as CSV' }).click()
    const lines = readFileSync(await (await download).path(), 'utf8')
      .trimEnd()
      .split('\r\n')
    assert.equal(lines.length, 1 + amounts.length)
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('a statement has days and credits apart, a receipt, and prints alone', async () => {
    const { page, complaints } = await stage.signedIn('/billing')
    const days = page.getByRole('table', { name: 'By day' })
    await days.locator('tbody tr').first().waitFor()
    const credits = page.getByRole('table', { name: 'Credits' })
    await expectAccessible(page)
    const sums = page.locator('dl[data-figures] dd')
    for (const text of await sums.allInnerTexts()) assert.match(text, /\.\d\d$/)
    const alignments = await page.evaluate<string[]>(`
      [...document.querySelectorAll('dl[data-figures] dd, td[data-label="Charge"]')]
        .map((one) => getComputedStyle(one).textAlign)
    `)
    assert.ok(alignments.length > 4)
    assert.deepEqual([...new Set(alignments)], ['right'])
    await page.emulateMedia({ media: 'print' })
    assert.equal(await page.getByRole('navigation').isVisible(), false)
    assert.equal(await days.isVisible(), true)
    await page.emulateMedia({ media: 'screen' })
    // A month has no figures of another one while it loads.
    const month = page.getByRole('combobox', { name: 'Month' })
    const release = Promise.withResolvers<void>()
    await page.route('**/statement?*', async (route) => {
      await release.promise
      await route.continue()
    })
    await month.click()
    await page.getByRole('option').nth(1).click()
    await page.waitForURL(/month=/)
    assert.equal(await days.count(), 0)
    release.resolve()
    await page.getByText('No charges and no credits in this month.').waitFor()
    await month.click()
    await page.getByRole('option').first().click()
    await credits.getByRole('button', { name: 'Receipt' }).first().click()
    const receipt = page.getByRole('dialog', { name: 'Receipt' })
    await receipt.getByText(stage.account.id).waitFor()
    await page.emulateMedia({ media: 'print' })
    assert.equal(await days.isVisible(), false)
    assert.equal(await receipt.isVisible(), true)
    assert.deepEqual(complaints, [])
    await page.context().close()
    const phone = await stage.signedIn('/billing', {}, { ...PHONE, width: 390 })
    await phone.page.getByRole('table', { name: 'By day' }).locator('tbody tr').first().waitFor()
    await expectFits(phone.page)
    await expectUncut(phone.page)
    await expectAccessible(phone.page)
    await phone.page.context().close()
  })
})
