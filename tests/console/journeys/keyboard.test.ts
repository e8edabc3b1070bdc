/** The life of a key without a mouse, from the sign-in to the list, with a visible focus. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { noBrowser } from '../../support/browser.ts'
import { openPage } from '../support/browser.ts'
import { arrive, leave, searchFor } from '../support/journey.ts'
import { type ConsoleStage, PASSWORD, startConsoleStage } from '../support/stage.ts'

/** Maximum key presses to reach an element. */
const PRESSES_MAX = 40

describe('with the keyboard alone', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  test('a key is created, used, disabled and found again', async () => {
    const { email } = await stage.createPerson()
    const watched = await openPage(stage.browser)
    const { page } = watched
    const { keyboard } = page
    await page.goto(`${stage.console}/sign-in`)
    await tabTo(page, page.getByLabel('E-mail'))
    await keyboard.type(email)
    await tabTo(page, page.getByLabel('Password', { exact: true }))
    await keyboard.type(PASSWORD)
    await keyboard.press('Enter')
    await arrive(page, 'Overview')

    await searchFor(page, 'API keys')
    await arrive(page, 'API keys')

    await press(page, page.getByRole('button', { name: 'Create key' }))
    const dialog = page.getByRole('dialog')
    await tabTo(page, dialog.getByLabel('Name'))
    await keyboard.type('by hand')
    await keyboard.press('Enter')
    const key = await dialog.getByText(/^tr-/).first().innerText()
    assert.equal(await dialog.locator(':focus').count(), 1, 'the focus stays in the dialog')
    await press(page, dialog.getByRole('button', { name: 'I have saved it' }))
    await dialog.waitFor({ state: 'hidden' })
    const headers = { authorization: `Bearer ${key}` }
    assert.equal((await fetch(`${stage.url}/v1/balance`, { headers })).status, 200)

    const row = page.getByRole('button', { name: /^by hand/ })
    await press(page, row)
    const drawer = page.getByRole('dialog', { name: 'by hand' })
    await press(page, drawer.getByRole('button', { name: 'Disable' }))
    const question = page.getByRole('dialog', { name: /^Disable/ })
    await press(page, question.getByRole('button', { name: 'Disable' }))
    await drawer.getByRole('button', { name: 'Enable' }).waitFor()
    await question.waitFor({ state: 'hidden' })
    await keyboard.press('Escape')
    await drawer.waitFor({ state: 'hidden' })
    // Closing the details returns the focus to the row that opened them.
    await row.and(page.locator(':focus')).waitFor()
    await leave(watched)
  })

  test('the link that skips the navigation has the focus first', async () => {
    const { page } = await stage.signedIn('/usage')
    await arrive(page, 'Usage')
    await page.keyboard.press('Tab')
    await page.locator('a.skip-link:focus').waitFor()
    await page.keyboard.press('Enter')
    await page.locator('main:focus').waitFor()
    await page.context().close()
  })
})

/** Presses Tab until the element has the focus, visibly. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  for (let presses = 0; presses < PRESSES_MAX; presses += 1) {
    if ((await target.and(page.locator(':focus')).count()) > 0) return
    await page.keyboard.press('Tab')
  }
  assert.fail(`${target} is not reached within ${PRESSES_MAX} presses`)
}

async function press(page: Page, target: Locator): Promise<void> {
  await tabTo(page, target)
  await page.keyboard.press('Enter')
}
