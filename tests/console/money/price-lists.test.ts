/** Price lists in the browser: made, compared, given to an account, and seen by its owner. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from '../../support/browser.ts'
import { arrive, leave } from '../support/journey.ts'
import { type ConsoleStage, startConsoleStage } from '../support/stage.ts'

const PAGE = '/operator/price-lists'

describe('price lists', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  test('a list is made, compared and given; its customer sees those prices', async () => {
    const watched = await stage.signedIn(PAGE, { operator: true })
    const { page } = watched
    await page.getByText('No price lists yet').waitFor()
    await arrive(page, 'Price lists')
    await makeGold(page)
    const details = page.getByRole('dialog', { name: 'gold' })
    await details.getByText(/below the upstream cost: sim-chat/).waitFor()
    await details.getByText('0.5 × parent').waitFor()

    await details.getByRole('link', { name: 'Compare with base' }).click()
    const row = page.getByRole('row', { name: /^sim-chat/ })
    await row.getByText('Loss').waitFor()
    await row.getByRole('button').first().click()
    await page.getByRole('dialog', { name: 'sim-chat' }).getByText('Below cost').waitFor()

    await page.goto(`${stage.console}${PAGE}?account=${stage.account.id}&search=sim-chat`)
    await page.getByRole('button', { name: 'Change the list' }).click()
    const dialog = page.getByRole('dialog', { name: 'Price list' })
    await dialog.getByRole('combobox').click()
    await page.getByRole('option', { name: 'gold' }).click()
    // Another operator has retired it since.
    await stage.sql`update price_list set status = 'retired' where id = 'gold'`
    await dialog.getByRole('button', { name: 'Save' }).click()
    const list = dialog.getByRole('combobox').and(page.locator('[aria-invalid=true]'))
    await list.waitFor()
    await stage.sql`update price_list set status = 'active' where id = 'gold'`
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('gold → Base prices').waitFor()
    await page.getByText('0.5 × parent · of gold').waitFor()
    await page.getByRole('button', { name: 'Set own prices' }).click()
    const own = page.getByRole('dialog', { name: 'Set own prices' })
    await own.getByRole('button', { name: 'Name a model' }).click()
    await own.getByLabel('Model', { exact: true }).fill('sim-chat')
    await own.getByLabel('Factor').fill('3')
    await own.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Own prices → gold → Base prices').waitFor()
    await page.getByRole('cell', { name: /3 × parent/ }).waitFor()
    await arrive(page, 'What test pays')

    await stage.sql`
      update model set details = details || '{"routing": "cheapest"}' where id = 'sim-chat'`
    await page.goto(`${stage.console}/operator/models?id=sim-chat`)
    await page.getByText('The cheapest first').waitFor()
    await page.getByText(/the only route · .* for a typical call/).waitFor()
    await leave(watched)

    const owner = await stage.signedIn('/models?search=sim-chat')
    // 0.15 for a million input tokens, by half, by three.
    await owner.page.getByText('¥0.225').waitFor()
    await leave(owner)
  })
})

/** Makes the list after a try that names every mistake, each at its field. */
async function makeGold(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'New price list' }).first().click()
  const drawer = page.getByRole('dialog', { name: 'New price list' })
  await drawer.getByRole('button', { name: 'Name a model' }).click()
  const factors = drawer.getByLabel('Factor')
  await factors.nth(1).fill('half')
  await drawer.getByRole('button', { name: 'New price list' }).click()
  const invalid = drawer.locator('[aria-invalid=true]')
  await invalid.first().waitFor()
  assert.equal(await invalid.count(), 3, 'the id, the factor for all, and the model')
  assert.equal(await drawer.getByText('six digits').count(), 0, 'an empty factor is no wrong one')
  await drawer.getByLabel('List', { exact: false }).first().fill('gold')
  await drawer.getByLabel('Model', { exact: true }).fill('sim-chat')
  await factors.nth(0).fill('2')
  await drawer.getByRole('button', { name: 'Name a model' }).click()
  await drawer.getByLabel('Model', { exact: true }).nth(1).fill('sim-chat.1')
  await factors.nth(2).fill('1')
  await drawer.getByRole('button', { name: 'New price list' }).click()
  await drawer.locator('[aria-invalid=true][value="half"]').waitFor()
  assert.equal(await invalid.count(), 1, 'the factor, not its model')
  await factors.nth(1).fill(' ０.5 ')
  await drawer.getByRole('button', { name: 'New price list' }).click()
  await drawer.locator('[aria-invalid=true][value="sim-chat.1"]').waitFor()
  assert.equal(await invalid.count(), 1, 'the model, not the one with half its name')
  await drawer.getByRole('button', { name: 'Remove' }).nth(1).click()
  await drawer.getByRole('button', { name: 'New price list' }).click()
}
