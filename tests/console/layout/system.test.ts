/** The system page: tabs, and settings that are found by a search or because they are changed. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from '../../support/browser.ts'
import { until } from '../../support/until.ts'
import { expectAccessible, expectFits } from '../support/browser.ts'
import { arrive, leave } from '../support/journey.ts'
import { type ConsoleStage, startConsoleProcess } from '../support/stage.ts'

const OPERATOR = { operator: true }

const listNames = (page: Page) => page.locator('dt p:first-child').allInnerTexts()

async function expectNames(page: Page, test: (names: readonly string[]) => boolean): Promise<void> {
  await until('the settings sought', async () => test(await listNames(page)) || undefined)
}

describe('the system page', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleProcess({ env: { BODY_BYTES_MAX: '9MB' } })
  })
  after(() => stage?.stop())

  test('has tabs, whose address can be opened again', async () => {
    const watched = await stage.signedIn('/operator/system', OPERATOR)
    const { page } = watched
    await arrive(page, 'System')
    await page.getByRole('table', { name: 'Gateways' }).waitFor()
    await page.getByRole('tab', { name: 'Database' }).click()
    await page.getByRole('table', { name: 'Database' }).waitFor()
    await page.reload()
    await page.getByRole('table', { name: 'Database' }).waitFor()
    assert.equal(await page.getByRole('table').count(), 1)
    await arrive(page, 'System')
    await leave(watched)
  })

  test('finds a setting by its name and by what it says', async () => {
    const watched = await stage.signedIn('/operator/system?tab=settings', OPERATOR)
    const { page } = watched
    const search = page.getByLabel('Search the settings')
    await expectNames(page, (names) => names.length > 50)
    await search.fill('s3_buck')
    await expectNames(page, (names) => names.join() === 'S3_BUCKET')
    await search.fill('object store')
    await expectNames(page, (names) => names.length > 2 && names.every((name) => /^S3/.test(name)))
    await search.fill('no such thing')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await expectNames(page, (names) => names.length > 50)
    await leave(watched)
  })

  test('shows what was changed, with its default', async () => {
    const look = { width: 390, height: 844, colorScheme: 'dark' } as const
    const watched = await stage.signedIn('/operator/system?tab=settings', OPERATOR, look)
    const { page } = watched
    await page.getByRole('switch', { name: 'Changed only' }).check()
    await expectNames(page, (names) => names.length > 2 && names.length < 20)
    const changed = page.locator('dl > div').filter({ hasText: 'BODY_BYTES_MAX' })
    assert.match(await changed.innerText(), /9MB\s+Default: \d+/)
    assert.ok(!(await listNames(page)).includes('SITE'))
    await expectFits(page)
    await expectAccessible(page)
    await leave(watched)
  })
})
