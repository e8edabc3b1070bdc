/** Operators in the browser: credit and suspend, add a channel and a model, prove the books. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { noBrowser } from '../support/browser.ts'
import { insertDropped } from '../webhooks/support.ts'
import { keepToasts } from './support/browser.ts'
import { type ConsoleStage, startConsoleStage } from './support/stage.ts'

const OPERATOR = { operator: true }
describe('operators', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  test('an account is credited once, suspended and resumed, with effect on its key', async () => {
    const { page, complaints } = await stage.signedIn('/operator/accounts', OPERATOR)
    await page.getByRole('button', { name: 'test' }).first().click()
    const drawer = page.getByRole('dialog')
    await drawer.getByLabel(/^Amount/).fill('１２．３４')
    await drawer.getByLabel('Reason').fill('invoice 17')
    // The first answer is lost on its way; the second attempt is a double click.
    let isLost = false
    await page.route('**/credits', async (route) => {
      if (isLost || route.request().method() !== 'POST') return await route.continue()
      isLost = true
      assert.equal((await route.fetch()).status(), 200)
      await route.abort()
    })
    await drawer.getByRole('button', { name: 'Add credit' }).click()
    await drawer.getByText(/cannot be reached/).waitFor()
    await keepToasts(page)
    await drawer.getByRole('button', { name: 'Add credit' }).dblclick()
    await page.getByText('The balance of test was changed').first().waitFor()
    await page.getByText('invoice 17 · By').first().waitFor()
    await drawer.getByRole('button', { name: 'Suspend' }).click()
    const ask = page.getByRole('dialog', { name: 'Suspend' })
    await ask.getByLabel('Reason').fill('unpaid')
    await ask.getByRole('button', { name: 'Suspend' }).click()
    await ask.waitFor({ state: 'hidden' })
    await drawer.getByRole('button', { name: 'Resume' }).click()
    await page
      .getByRole('dialog', { name: 'Resume' })
      .getByRole('button', { name: 'Resume' })
      .click()
    await page.getByRole('dialog', { name: 'Resume' }).waitFor({ state: 'hidden' })
    await drawer.getByRole('button', { name: 'Suspend' }).waitFor()
    const booked = await stage.sql`
      SELECT amount FROM credit WHERE reason = 'invoice 17'
    `
    assert.deepEqual(
      booked.map(({ amount }) => amount),
      [12_340_000_000n],
    )
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('a channel is tested, paused and resumed', async () => {
    const { page, complaints } = await stage.signedIn('/operator/channels', OPERATOR)
    await page.getByRole('button', { name: 'test-openai', exact: true }).first().click()
    const drawer = page.getByRole('dialog')
    await drawer.getByRole('button', { name: 'Test', exact: true }).click()
    await drawer.getByText('Key: the vendor accepts the key').waitFor()
    const gate = Promise.withResolvers<void>()
    let pauses = 0
    await page.route('**/pause', async (route) => {
      pauses += 1
      await gate.promise
      await route.continue()
    })
    const pause = drawer.getByRole('button', { name: 'Pause' })
    await pause.click()
    await pause.and(page.locator('[data-loading]')).waitFor()
    await pause.click({ force: true })
    gate.resolve()
    await drawer.getByText('Paused', { exact: true }).waitFor()
    assert.equal(pauses, 1)
    await drawer.getByRole('button', { name: 'Resume' }).click()
    await drawer.getByRole('button', { name: 'Pause' }).waitFor()
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('the audit runs and names every invariant', async () => {
    const { page } = await stage.signedIn('/operator/proof', OPERATOR)
    await page.getByRole('button', { name: 'Run the audit' }).click()
    await page.getByText('All books agree').waitFor()
    assert.ok((await page.getByText('holds', { exact: true }).count()) >= 7)
    await page.context().close()
  })

  test('a delivery far down the list is found by its id, and its filter can be cleared', async () => {
    await stage.sql`
      insert into delivery (id, account_id, kind, url, host, body, created_at, state, finished_at)
      select 'whd_old' || lpad(n::text, 8, '0'), ${stage.account.id}, 'video',
        'https://hooks.example/' || n, 'hooks.example:443', '', now() - n * interval '1 hour',
        'delivered', now()
      from generate_series(1, 60) n`
    const { page, complaints } = await stage.signedIn('/operator', OPERATOR)
    await page.getByRole('button', { name: 'Go to…' }).click()
    await page.getByPlaceholder(/the id of a call/).fill('whd_old00000059')
    await page.keyboard.press('Enter')
    const drawer = page.getByRole('dialog')
    await drawer.getByText('https://hooks.example/59').waitFor()
    await drawer.getByRole('button', { name: 'Close' }).click()
    const field = page.getByLabel('Delivery id')
    await page.locator('tbody tr').nth(1).waitFor({ state: 'detached' })
    await field.fill('whd_none')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.locator('tbody tr').nth(1).waitFor()
    assert.equal(await field.inputValue(), '')
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('a dropped delivery is sent again, and then all of an hour', async () => {
    const [first] = await Promise.all(
      ['https://gone.example/1', 'https://gone.example/2'].map((url) =>
        insertDropped(stage.sql, stage.account.id, url),
      ),
    )
    const path = `/operator/deliveries?host=gone.example&id=${first}&delivery=${first}`
    const { page, complaints } = await stage.signedIn(path, OPERATOR)
    const drawer = page.getByRole('dialog')
    await drawer.getByRole('button', { name: 'Send again' }).click()
    await drawer.getByRole('link', { name: 'Sent again: show that delivery' }).waitFor()
    await drawer.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Send dropped webhooks again' }).click()
    await keepToasts(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click()
    await page.getByText('1 are being sent again, 0 remain').waitFor()
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('other users cannot open the pages', async () => {
    const { page } = await stage.signedIn('/operator/accounts', { role: 'owner' })
    await page.getByText('Page not found').waitFor()
    // The way on is to their own pages.
    await page.getByRole('link', { name: 'API keys' }).waitFor()
    await page.context().close()
  })
})
