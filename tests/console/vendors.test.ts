/** Operators in the browser: a vendor's channel, its models from the price book, the differences. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { noBrowser } from '../support/browser.ts'
import { expectAccessible, expectFits, PHONE } from './support/browser.ts'
import { leave, proveUntil } from './support/journey.ts'
import { type ConsoleStage, startConsoleStage } from './support/stage.ts'

const OPERATOR = { operator: true }

describe('vendors', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  test('a vendor is found by its name, gets its key, and its models are chosen', async () => {
    const watched = await stage.signedIn('/operator/channels', OPERATOR)
    const { page } = watched
    await page.getByRole('button', { name: 'Add a channel' }).first().click()
    const drawer = page.getByRole('dialog', { name: 'Add a channel' })
    await drawer.getByLabel('Which vendor do you have an account with?').fill('deeps')
    await expectAccessible(page)
    await drawer.getByRole('button', { name: /^DeepSeek/ }).click()
    await drawer.getByRole('link', { name: 'Create a key at platform.deepseek.com' }).waitFor()
    const address = drawer.getByLabel('Address of the API')
    assert.equal(await address.inputValue(), 'https://api.deepseek.com')
    await address.fill('nonsense')
    await drawer.getByRole('textbox', { name: 'API key', exact: true }).fill('sk-first')
    await drawer.getByLabel('Further API keys').fill('sk-second\nsk-third')
    assert.equal(await drawer.getByLabel('How the key is sent').count(), 0)
    await drawer.getByRole('button', { name: 'Advanced' }).click()
    await drawer.getByLabel('How the key is sent').waitFor()
    await expectAccessible(page)
    await drawer.getByRole('button', { name: 'Add DeepSeek' }).click()
    await proveUntil(page, drawer.getByText(/must be an address/))
    await address.fill('https://api.deepseek.com')
    await drawer.getByRole('button', { name: 'Add DeepSeek' }).click()
    await drawer.getByText('DeepSeek is added').waitFor()
    await drawer.getByRole('link', { name: 'Choose models' }).click()
    const book = page.getByRole('dialog', { name: 'Add from a price book' })
    await book.getByRole('heading', { name: /^New models/ }).waitFor()
    await expectAccessible(page)
    await book.getByRole('checkbox', { name: /^All: New models/ }).check()
    await book.getByRole('button', { name: /^Apply \d models$/ }).click()
    await book.getByRole('heading', { name: /^Up to date/ }).waitFor()
    const models = await stage.sql`
      select m.id from model m where m.source = 'deepseek' and m.status = 'active'`
    assert.ok(models.length >= 2)
    await leave(watched)
  })

  test('a price of one’s own is shown beside the price book’s, with the change', async () => {
    await stage.sql`
      insert into price (model_id, currency, prices)
      select id, 'CNY', '[{"unit":"input_token","per":1000000,"amount":"99"}]'
      from model where source = 'deepseek' limit 1`
    await stage.sql`
      update model set price_version = (select max(version) from price) where id =
        (select model_id from price order by version desc limit 1)`
    const watched = await stage.signedIn('/operator/models?book=deepseek', OPERATOR)
    const { page } = watched
    const book = page.getByRole('dialog', { name: 'Add from a price book' })
    await book.getByRole('heading', { name: 'Different from the price book (1)' }).waitFor()
    const row = book.getByRole('row').filter({ hasText: '99' })
    await row.getByText(/removed|^−/).waitFor()
    await expectAccessible(page)
    await book.getByRole('checkbox').last().check()
    await book.getByRole('button', { name: 'Apply 1 model' }).click()
    await proveUntil(page, book.getByRole('heading', { name: /^Up to date/ }))
    await book.getByRole('heading', { name: /^Different/ }).waitFor({ state: 'detached' })
    await leave(watched)
  })

  test('the drawers fit a phone, and a second account gets a name of its own', async () => {
    const phone = await stage.signedIn('/operator/channels?add=deepseek', OPERATOR, PHONE)
    const name = phone.page.getByRole('textbox', { name: 'Channel', exact: true })
    await name.waitFor()
    assert.equal(await name.inputValue(), 'deepseek-2')
    await expectFits(phone.page)
    // Vendors that are asked for again in vain take away nothing that was typed.
    await name.fill('typed')
    const refusal = { status: 403, json: { error: 'not today', type: 'permission_error' } }
    await phone.page.route('**/operator/vendors', (route) => route.fulfill(refusal))
    const refused = phone.page.waitForResponse('**/operator/vendors')
    await phone.page.evaluate(`{
      const { now } = Date
      Date.now = () => now() + 60_000
      dispatchEvent(new Event('visibilitychange'))
    }`)
    await (await refused).finished()
    await phone.page.evaluate(
      'new Promise((done) => requestAnimationFrame(() => setTimeout(done)))',
    )
    assert.equal(await name.inputValue(), 'typed')
    await phone.page.unroute('**/operator/vendors')
    await phone.page.goto(`${stage.console}/operator/models?book=openai`)
    await phone.page.getByRole('link', { name: 'Add the channel' }).waitFor()
    await expectFits(phone.page)
    await expectAccessible(phone.page)
    await leave(phone)
  })

  test('the share of traffic follows the weights as they are typed', async () => {
    const watched = await stage.signedIn('/operator/models?id=sim-chat', OPERATOR)
    const { page } = watched
    const drawer = page.getByRole('dialog').first()
    await drawer.getByText('100% of traffic').first().waitFor()
    await drawer.getByRole('button', { name: 'Edit', exact: true }).click()
    await drawer.getByRole('button', { name: 'Add a route' }).click()
    await drawer.getByLabel('Share of traffic').last().fill('3')
    await drawer.getByText('= 75%').waitFor()
    await drawer.getByText('= 25%').waitFor()
    await leave(watched)
  })
})
