/** Amounts in the browser: aligned, never shown as zero unless they are, copied exactly. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { noBrowser } from '../../support/browser.ts'
import { expectAccessible, expectFits, PHONE } from '../support/browser.ts'
import { type ConsoleStage, startConsoleStage } from '../support/stage.ts'

const CHAT = { model: 'sim-chat', messages: [{ role: 'user', content: 'Hello' }] }

describe('money on the pages', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
    await (await stage.post('/v1/chat/completions', CHAT)).text()
    await (await stage.post('/v1/search', { Type: 'web', Query: 'rivers' })).text()
  })
  after(() => stage?.stop())

  test('a column has the same decimals in each row; a sliver is not shown as zero', async () => {
    const { page } = await stage.signedIn('/usage')
    const table = page.getByRole('table', { name: 'Usage' })
    await table.getByText('sim-chat').waitFor()
    const cells = await table.locator('td[data-label="Charged"]').allInnerTexts()
    assert.ok(cells.includes('< ¥0.0001'), cells.join())
    for (const cell of cells) assert.match(cell, /^(?:< )?¥\d+\.\d{4}$/)
    await page.context().close()
  })

  test('the whole amount appears on hover and is what is copied', async () => {
    const { page, context } = await stage.signedIn('/usage')
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const table = page.getByRole('table', { name: 'Usage' })
    const cell = table.locator('td[data-label="Charged"]').getByText('< ¥0.0001')
    await cell.hover()
    const tip = await page.getByRole('tooltip').innerText()
    assert.match(tip, /^¥0\.0000\d+$/)
    await page.evaluate(`{
      const selection = getSelection()
      selection.selectAllChildren(document.querySelector('table[aria-label=Usage] tbody'))
    }`)
    await page.keyboard.press('Control+C')
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    assert.ok(copied.includes(`\t${tip}`), copied)
    assert.ok(!copied.includes('<'), copied)
    await context.close()
  })

  test('a column of times says its zone, and each time has a day', async () => {
    const { page } = await stage.signedIn('/usage')
    await page.getByRole('columnheader', { name: 'Time UTC' }).waitFor()
    await page
      .getByRole('table', { name: 'Usage' })
      .locator('tbody td:first-child')
      .filter({ hasText: /^[A-Z][a-z]{2} \d\d, \d\d:\d\d:\d\d$/ })
      .first()
      .waitFor()
    await page.context().close()
  })

  test('operators see one currency at a time, and can switch', async () => {
    const { account } = await stage.createCaller('5')
    await stage.sql`update balance set currency = 'USD' where account_id = ${account.id}`
    const { page } = await stage.signedIn('/operator', { operator: true })
    await page.getByText('Active accounts').waitFor()
    assert.equal((await page.getByText('Revenue', { exact: true }).count()) > 0, true)
    const choice = page.getByRole('radiogroup', { name: 'Currency' })
    await choice.getByText('USD').click()
    await page.getByRole('heading', { name: 'Revenue and upstream cost in USD' }).waitFor()
    assert.equal(await page.getByText(/cost in CNY/).count(), 0)
    assert.match(page.url(), /currency=USD/)
    await page.context().close()
  })

  test('revenue less upstream cost is the margin, in the digits that are shown', async () => {
    const { page } = await stage.signedIn('/operator', { operator: true })
    const earned = { revenue: '0.034', upstream_cost: '0.018', margin: '0.016', currency: 'CNY' }
    await page.route('**/operator/overview?*', async (route) => {
      const overview = await (await route.fetch()).json()
      const [currency] = overview.currencies
      const shares = { margin_share: 0.47, uncosted_share: 0 }
      const model = { model: 'sim-chat', calls: 1, errors: 0, ...shares, ...earned }
      const round = { revenue: '0.07', upstream_cost: '0.05', margin: '0.02' }
      const models = [model, { ...model, ...round, model: 'round' }]
      const currencies = [{ ...currency, ...shares, ...earned }]
      await route.fulfill({ json: { ...overview, models, currencies } })
    })
    await page.reload()
    const rows = page.getByRole('table', { name: 'By model' }).locator('tbody tr')
    await rows.filter({ hasText: 'round' }).getByText('¥0.070', { exact: true }).waitFor()
    const row = rows.filter({ hasText: 'sim-chat' })
    await row.getByText('¥0.034', { exact: true }).waitFor()
    await row.getByText('¥0.018', { exact: true }).waitFor()
    await row.getByText('¥0.016', { exact: true }).waitFor()
    for (const amount of Object.values(earned).slice(0, 3)) {
      assert.ok((await page.getByText(`¥${amount}`, { exact: true }).count()) > 1, amount)
    }
    await page.context().close()
  })

  test('a calculator says what a call would cost, to the last digit', async () => {
    const { page, complaints } = await stage.signedIn('/models?id=sim-chat')
    const table = page.getByRole('dialog').getByRole('table', { name: 'Cost calculator' })
    await table.getByLabel('input tokens', { exact: true }).fill('1000000')
    await table.getByLabel('output tokens', { exact: true }).fill('0')
    const [row] = await stage.sql<{ amount: string }[]>`
      select one->>'amount' as amount
      from price p cross join jsonb_array_elements(p.prices) one
      where p.model_id = 'sim-chat' and one->>'unit' = 'input_token'
      order by p.version desc limit 1`
    const total = table.getByRole('row', { name: /^One call/ })
    await total.getByText(`¥${Number(row?.amount ?? 'x').toFixed(2)}`).waitFor()
    await expectAccessible(page)
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('fits a phone', async () => {
    const { page } = await stage.signedIn('/usage', {}, PHONE)
    await page.locator('td[data-label="Charged"]').first().waitFor()
    await expectFits(page)
    await page.context().close()
  })
})
