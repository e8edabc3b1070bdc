/** Several currencies in one gateway: figures are never added up, and accounts are told apart. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { parseAmount } from '../../../server/base/lib/money.ts'
import { createAccount } from '../../../server/money/accounts/manage-accounts.ts'
import { noBrowser } from '../../support/browser.ts'
import { expectAccessible, expectFits, PHONE } from '../support/browser.ts'
import { type ConsoleStage, startConsoleStage } from '../support/stage.ts'

const OPERATOR = { operator: true }

describe('several currencies', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  let ids: string[]
  before(async () => {
    stage = await startConsoleStage()
    const open = async (currency: string, balance: string) => {
      const openingBalanceNanos = parseAmount(balance) ?? 0n
      const account = { name: 'Acme', currency, openingBalanceNanos, actor: 'test' }
      return (await createAccount(stage.sql, account)).id
    }
    ids = [await open('USD', '1234.5'), await open('JPY', '12345678')]
    await (await stage.post('/v1/search', { Type: 'web', Query: 'rivers' })).text()
  })
  after(() => stage?.stop())

  test('a tile has an amount for each currency', async () => {
    const { page, complaints } = await stage.signedIn('/operator', OPERATOR)
    const tile = page.getByRole('link', { name: /^Customers’ balances/ })
    await tile.getByText('$1,234.50').waitFor()
    await tile.getByText('JPY 12,345,678.00').waitFor()
    await tile.getByText(/^¥9\d\d\.\d\d$/).waitFor()
    await page.getByRole('link', { name: /^Calls 1$/ }).waitFor()
    await page.getByRole('radiogroup', { name: 'Currency' }).getByText('USD').click()
    await page.getByRole('figure', { name: 'Revenue and upstream cost in USD' }).waitFor()
    await tile.getByText('JPY 12,345,678.00').waitFor()
    await expectAccessible(page)
    assert.deepEqual(complaints, [])
    await page.context().close()
    const phone = await stage.signedIn('/operator', OPERATOR, PHONE)
    await phone.page.getByText('JPY 12,345,678.00').waitFor()
    await expectFits(phone.page)
    await phone.page.setViewportSize({ width: 390, height: 844 })
    await phone.page.goto(`${stage.console}/operator/accounts`)
    const amount = phone.page.getByRole('cell', { name: 'JPY 12,345,678.00' })
    await amount.waitFor()
    const [reach = 0, room = 0] = await amount.evaluate((cell) => [
      cell.scrollWidth,
      cell.clientWidth,
    ])
    assert.ok(reach <= room, `${reach} of ${room} pixels`)
    await phone.page.context().close()
  })

  test('amounts are shown once the currency is known, and not in another', async () => {
    const accountId = ids[0] ?? ''
    const { page } = await stage.signedIn('/sign-in', { accountId, role: 'owner' })
    const refusal = { status: 403, json: { error: 'not today', type: 'permission_error' } }
    await page.route('**/balance', (route) => route.fulfill(refusal))
    const list = page.getByRole('main')
    for (const path of ['/keys', '/billing?view=transactions']) {
      await page.goto(`${stage.console}${path}`)
      await list.getByRole('alert').getByText('not today').first().waitFor()
      assert.doesNotMatch(await list.innerText(), /[$¥]/)
    }
    await page.unrouteAll({ behavior: 'wait' })
    await list.getByRole('button', { name: 'Try again' }).first().click()
    await list.getByRole('table').getByText('$1,234.50').first().waitFor()
    await page.context().close()
  })

  test('accounts of one name differ by the end of their ids, which finds them', async () => {
    const { page, complaints } = await stage.signedIn('/operator/accounts', OPERATOR)
    const table = page.getByRole('table', { name: 'Accounts' })
    const [dollars = '', yen = ''] = ids.map((id) => `…${id.slice(-4)}`)
    await table.getByText(dollars).waitFor()
    await table.getByText(yen).waitFor()
    await page.getByRole('textbox', { name: 'Name or id' }).fill(ids[0]?.slice(-6) ?? '')
    await table.getByText(yen).waitFor({ state: 'detached' })
    await table.getByRole('button', { name: 'Acme' }).click()
    await page.getByRole('dialog', { name: `Acme ${dollars}` }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'New account' }).click()
    const create = page.getByRole('dialog', { name: 'New account' })
    await create.getByRole('textbox', { name: 'Name' }).fill('acme ')
    const note = create.getByText(/^Accounts with this name exist/)
    await note.getByText(`${dollars} (USD)`).waitFor()
    await create.getByRole('textbox', { name: 'Name' }).fill('Acme Ltd')
    await note.waitFor({ state: 'detached' })
    await expectAccessible(page)
    assert.deepEqual(complaints, [])
    await page.context().close()
  })
})
