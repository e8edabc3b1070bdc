/** The usage page: a chart by name, columns, pickers, order, and an export of what is seen. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { noBrowser } from '../../support/browser.ts'
import { expectAccessible, expectFits, expectUncut, PHONE } from '../support/browser.ts'
import { type ConsoleStage, startConsoleStage } from '../support/stage.ts'

const CHAT = { model: 'sim-chat', messages: [{ role: 'user', content: 'Hello' }] }

describe('the usage page', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
    await (await stage.post('/v1/chat/completions', { ...CHAT, user: 'u-1' })).text()
    await (await stage.post('/v1/search', { Type: 'web', Query: 'rivers' })).text()
  })
  after(() => stage?.stop())

  test('spend is stacked by model, key or endpoint, and each model has its percentiles', async () => {
    const { page, complaints } = await stage.signedIn('/usage')
    const figures = page.getByRole('table', { name: 'By model' })
    await figures.getByRole('cell', { name: 'sim-chat' }).waitFor()
    await figures.getByRole('columnheader', { name: 'Slowest 5%' }).waitFor()
    const chart = page.getByRole('figure', { name: 'Spend over time' })
    await chart.locator('rect').first().waitFor()
    await page.getByRole('radiogroup', { name: 'Stacked by' }).getByText('Endpoint').click()
    await page.getByText('chat.completions').first().waitFor()
    assert.match(page.url(), /by=endpoint/)
    await page.getByRole('radiogroup', { name: 'Stacked by' }).getByText('End user').click()
    const users = page.getByRole('table', { name: 'Calls by end user' })
    await users.getByRole('cell', { name: 'u-1' }).waitFor()
    const others = page.getByRole('columnheader', { name: 'All others, and calls without' })
    await others.waitFor()
    await expectAccessible(page)
    await page.getByRole('textbox', { name: 'End user' }).fill('u-1')
    await others.waitFor({ state: 'detached' })
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('keys and models are picked by name; the view is its address', async () => {
    const { page } = await stage.signedIn('/usage')
    const chart = page.getByRole('figure', { name: 'Spend over time' })
    await chart.waitFor()
    const release = Promise.withResolvers<void>()
    await page.route('**/usage/summary?*', async (route) => {
      await release.promise
      await route.continue()
    })
    await page.getByRole('combobox', { name: 'Model' }).click()
    await page.getByRole('option', { name: 'sim-chat' }).click()
    const rows = page.getByRole('table', { name: 'Usage' }).locator('tbody tr')
    await rows.getByText('vendor-web-search').waitFor({ state: 'detached' })
    await page.locator('[data-stale]').filter({ has: chart }).waitFor()
    await page.locator('[data-stale][aria-label="By model"]').waitFor()
    release.resolve()
    await page.getByRole('button', { name: 'Columns' }).press('Enter')
    const columns = page.getByRole('dialog', { name: 'Columns' })
    await columns.locator(':focus').waitFor()
    await expectAccessible(page)
    await columns.getByRole('checkbox', { name: 'Output rate' }).click()
    await columns.getByRole('checkbox', { name: 'Status' }).click()
    await page.keyboard.press('Escape')
    await columns.waitFor({ state: 'detached' })
    const heads = page.getByRole('table', { name: 'Usage' }).getByRole('columnheader')
    await heads.getByText('Output rate').waitFor()
    const again = await page.context().newPage()
    await again.goto(page.url())
    await again.getByRole('columnheader', { name: 'Output rate' }).waitFor()
    assert.equal(await again.getByRole('columnheader', { name: 'Status' }).count(), 0)
    assert.equal(await again.getByRole('combobox', { name: 'Model' }).inputValue(), 'sim-chat')
    const isWider = page.getByText('Chart and totals count calls of every status')
    assert.equal(await isWider.count(), 0)
    await page.getByRole('textbox', { name: 'Request' }).fill('req_none')
    await isWider.waitFor()
    await page.getByRole('combobox', { name: 'Key' }).fill(stage.key.id.slice(4, 12))
    await page.getByRole('option').click()
    await page.waitForURL((url) => url.searchParams.get('key') === stage.key.id)
    await page.context().close()
  })

  test('members are picked by name', async () => {
    await stage.sql`
      update api_key set created_by = (select id from person order by created_at limit 1)
      where account_id = ${stage.account.id}`
    const { page } = await stage.signedIn('/usage?columns=model,member,charged')
    const cell = page.getByRole('cell', { name: /^Kim/ }).first()
    const name = (await cell.innerText()).trim()
    await page.getByRole('combobox', { name: 'Member' }).click()
    await page.getByRole('option', { name, exact: true }).click()
    await page.waitForURL(/member=/)
    await page.getByRole('cell', { name: 'sim-chat' }).first().waitFor()
    await expectAccessible(page)
    await page.context().close()
  })

  test('the export has exactly the rows, order and columns that are shown', async () => {
    const path = '/usage?order=oldest&columns=model,input,charged'
    const { page } = await stage.signedIn(path)
    await page.getByRole('cell', { name: 'sim-chat' }).first().waitFor()
    const table = page.getByRole('table', { name: 'Usage' })
    const shown = await table.locator('td[data-label="Model"]').allInnerTexts()
    await page.getByRole('button', { name: 'Export' }).click()
    const download = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'This view as JSON lines' }).click()
    const rows = readFileSync(await (await download).path(), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(Object.keys(rows[0]), [
      'request_id',
      'model',
      'input_tokens',
      'charged',
      'currency',
    ])
    assert.deepEqual(
      rows.map(({ model }) => model),
      shown,
    )
    await page.context().close()
  })

  test('a period is a preset or days of one’s own, the last one included', async () => {
    const { page, complaints } = await stage.signedIn('/usage')
    // Midnight may be between two calls, or come before the end of the test.
    const [called] = await stage.sql<{ at: Date }[]>`
      update call set created_at = last.at from (select max(created_at) as at from call) last
      returning last.at`
    assert.ok(called)
    await page.clock.setFixedTime(called.at)
    const rows = page.getByRole('table', { name: 'Usage' })
    await page.getByRole('button', { name: 'Period: Any time' }).click()
    await page.getByRole('button', { name: 'Yesterday', exact: true }).click()
    await page.getByText('Nothing matches these filters').waitFor()
    await page.getByRole('button', { name: 'Period: Yesterday' }).click()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Today', exact: true }).click()
    await rows.getByText('sim-chat').waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Period: Today' }).click()
    const today = called.at.toISOString().slice(0, 10)
    const last = page.getByLabel('To', { exact: true })
    assert.equal(await last.inputValue(), today)
    await page.getByLabel('From', { exact: true }).fill('2026-01-01')
    await page.getByRole('button', { name: /^Period: Jan 1/ }).waitFor()
    await rows.getByText('sim-chat').waitFor()
    assert.equal(await last.inputValue(), today)
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('fits a phone, in Chinese too', async () => {
    for (const look of [PHONE, { ...PHONE, locale: 'zh-CN' as const }]) {
      const { page } = await stage.signedIn('/usage', {}, look)
      await page.getByRole('cell', { name: 'sim-chat' }).first().waitFor()
      await expectFits(page)
      await expectUncut(page)
      await page.locator('tbody button').first().click()
      await page.getByRole('dialog').getByRole('table').last().waitFor()
      await expectUncut(page)
      await page.context().close()
    }
  })
})
