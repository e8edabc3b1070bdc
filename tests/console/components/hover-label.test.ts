/** A label that is mounted on hover and removed afterwards, without moving the focus. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { noBrowser } from '../../support/browser.ts'
import { type ConsoleStage, startConsoleStage } from '../support/stage.ts'

describe('a label on hover', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  test('tells the whole time of a row', async () => {
    await (await stage.post('/v1/search', { Type: 'web', Query: 'rivers' })).text()
    const { page, complaints } = await stage.signedIn('/usage')
    // Rows are shown once all above them is, so they stay below the pointer.
    const time = page.locator('tbody time').first()
    await time.hover()
    await page.getByRole('tooltip').getByText(/\d{4}/).waitFor()
    await page.mouse.move(0, 0)
    await page.getByRole('tooltip').waitFor({ state: 'hidden' })
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('of a button leaves the button as it is', async () => {
    const { page, complaints } = await stage.signedIn('/keys')
    await page.locator('tbody button').first().click()
    const copy = page.getByRole('dialog').getByRole('button', { name: 'Copy' }).first()
    await copy.focus()
    await copy.hover()
    await page.getByRole('tooltip').getByText('Copy').waitFor()
    await copy.and(page.locator(':focus')).waitFor()
    assert.deepEqual(complaints, [])
    await page.context().close()
  })
})
