/** A refusal moves no other field of its form, and a toast covers none. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { noBrowser } from '../../support/browser.ts'
import { expectAccessible, expectFits, keepToasts, type Look } from '../support/browser.ts'
import { leave } from '../support/journey.ts'
import { type ConsoleStage, startConsoleStage } from '../support/stage.ts'

const OPERATOR = { operator: true }
const LOOKS: readonly Look[] = [{}, { width: 390, height: 844 }]

/** Returns where each field and button of a form is, however far its drawer is scrolled. */
async function measure(form: Locator): Promise<readonly string[]> {
  return await form.evaluate((root) => {
    const top = root.getBoundingClientRect().top
    const boxes = [...root.querySelectorAll('input, textarea, button')].map((one) =>
      one.getBoundingClientRect(),
    )
    return boxes
      .filter(({ width }) => width > 0)
      .map(({ x, y, width }) => [x, y - top, width].map(Math.round).join(' '))
  })
}

/** Asserts that no field of the form has moved when `shown` has appeared. */
async function expectStill(form: Locator, act: () => Promise<void>, shown: Locator) {
  const placed = await measure(form)
  assert.ok(placed.length > 1)
  await act()
  await shown.first().waitFor()
  assert.deepEqual(await measure(form), placed)
}

const openAccount = async (page: Page) => {
  await page.getByRole('button', { name: 'test' }).first().click()
  const drawer = page.getByRole('dialog', { name: 'test' })
  await drawer.getByLabel(/^Amount/).waitFor()
  return drawer
}

describe('refusals', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  for (const look of LOOKS) {
    const name = JSON.stringify(look)

    test(`of a credit stand below its row, ${name}`, async () => {
      const watched = await stage.signedIn('/operator/accounts', OPERATOR, look)
      const { page } = watched
      const drawer = await openAccount(page)
      await drawer.getByLabel(/^Amount/).fill('0')
      await drawer.getByLabel('Reason').fill('nothing')
      const form = drawer.locator('form').filter({ hasText: 'Reason' })
      const button = form.getByRole('button', { name: 'Add credit' })
      const reason = form.getByText(/zero changes nothing/).filter({ visible: true })
      await expectStill(form, () => button.click(), reason)
      await expectAccessible(page)
      await expectFits(page)
      await leave(watched)
    })

    test(`of a model's prices stand below their row, ${name}`, async () => {
      const watched = await stage.signedIn('/operator/models?id=sim-chat', OPERATOR, look)
      const { page } = watched
      const drawer = page.getByRole('dialog', { name: 'sim-chat', exact: true })
      await drawer.getByRole('button', { name: 'Edit', exact: true }).click()
      await drawer.getByLabel('Amount').first().fill('dear')
      const save = async () => {
        await drawer.getByRole('button', { name: 'Save', exact: true }).click()
        const ask = page.getByRole('dialog', { name: 'Save sim-chat with these changes?' })
        await ask.getByRole('button', { name: 'Save' }).click()
        await ask.waitFor({ state: 'hidden' })
      }
      const reason = drawer.getByText(/decimal|amount must/).filter({ visible: true })
      await expectStill(drawer.locator('form'), save, reason)
      await leave(watched)
    })

    test(`of a key stand below its fields, ${name}`, async () => {
      const watched = await stage.signedIn('/keys', {}, look)
      const { page } = watched
      await page.getByRole('button', { name: 'Create key' }).first().click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Spend limit').fill('a lot')
      const button = dialog.getByRole('button', { name: 'Create key' })
      await expectStill(
        dialog.locator('form'),
        () => button.click(),
        dialog.getByText(/must be a decimal/),
      )
      await leave(watched)
    })
  }

  test('are not covered by the toast of what was done', async () => {
    const watched = await stage.signedIn('/operator/accounts', OPERATOR)
    const { page } = watched
    const drawer = await openAccount(page)
    await drawer.getByLabel(/^Amount/).fill('1')
    await keepToasts(page)
    await drawer.getByLabel('Reason').fill('invoice')
    await drawer.getByRole('button', { name: 'Add credit' }).click()
    const toast = page.getByRole('alert').filter({ hasText: 'The balance of test was changed' })
    await toast.waitFor()
    const area = await toast.boundingBox()
    assert.ok(area)
    for (const field of await page.locator('input:visible, textarea:visible').all()) {
      const box = await field.boundingBox()
      const isApart: boolean =
        !box ||
        box.y > area.y + area.height ||
        box.y + box.height < area.y ||
        box.x > area.x + area.width ||
        box.x + box.width < area.x
      assert.ok(isApart, 'a field is under the toast')
    }
    await leave(watched)
  })
})
