/** Budgets in the browser: created by an owner, spent, refusing, raised and deleted. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { giveBudget } from '../../ledger/budgets/support.ts'
import { noBrowser } from '../../support/browser.ts'
import { keepToasts, PHONE } from '../support/browser.ts'
import { arrive, leave } from '../support/journey.ts'
import { type ConsoleStage, startConsoleStage } from '../support/stage.ts'

describe('budgets', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage({ env: { ALLOW_PRIVATE_TARGETS: 'true', TARGET_PORTS: '9' } })
  })
  after(() => stage?.stop())

  const call = async () => {
    const messages = [{ role: 'user', content: 'Hello' }]
    const answer = await stage.post('/v1/chat/completions', { model: 'sim-chat', messages })
    return { status: answer.status, error: JSON.parse(await answer.text()).error }
  }

  test('of a key: created with every field checked, reached, raised, deleted', async () => {
    const watched = await stage.signedIn(`/keys?id=${stage.key.id}`)
    const { page } = watched
    await page.getByRole('link', { name: 'Show budgets' }).click()
    await page.getByText('Nothing matches these filters').waitFor()
    await page.getByRole('button', { name: 'Create budget' }).first().click()
    const drawer = page.getByRole('dialog', { name: 'Create budget' })
    const key = drawer.getByRole('combobox', { name: 'Key' })
    await key.fill(stage.key.id.slice(4, 12))
    await page.getByRole('option').click()
    await drawer.getByLabel('Alerts at').fill('2000,')
    await drawer.getByRole('button', { name: 'Create budget' }).click()
    const invalid = drawer.locator('[aria-invalid=true]')
    await invalid.first().waitFor()
    assert.equal(await invalid.count(), 2, 'the amount and the thresholds')
    await drawer.getByLabel('Alerts at').press('Backspace')
    // A click beside the drawer does not throw away what was typed.
    await page.mouse.click(300, 600)
    await drawer.getByRole('combobox', { name: 'Unit' }).click()
    await page.getByRole('option', { name: 'Calls' }).click()
    await drawer.getByLabel(/^Budget/).fill(' １ ')
    await drawer.getByRole('button', { name: 'Create budget' }).click()
    const details = page.getByRole('dialog', { name: /^Key / })
    await details.getByRole('img', { name: '0 spent, 0 on hold, of 1' }).waitFor()

    assert.equal((await call()).status, 200)
    await details.getByRole('img', { name: '1 spent, 0 on hold, of 1' }).waitFor()
    await details.getByText('Used up').waitFor()
    const refused = await call()
    const id = new URL(page.url()).searchParams.get('id')
    assert.deepEqual([refused.status, refused.error.budget_id], [402, id])

    await details.getByRole('button', { name: 'Edit' }).click()
    await details.getByLabel(/^Budget/).fill('7')
    await details.getByRole('button', { name: 'Save' }).click()
    await details.getByRole('img', { name: '1 spent, 0 on hold, of 7' }).waitFor()
    assert.equal((await call()).status, 200)

    await page.goto(`${stage.console}/alerts?event=budget.threshold`)
    const told = page.getByRole('row', { name: /100% of the budget used: 1 of 1/ })
    await told.getByRole('button').click()
    const alert = page.getByRole('dialog', { name: 'Budget' })
    await alert.getByText('None: no mail server').waitFor()
    await alert.getByRole('link', { name: 'Show the budget' }).click()
    await details.getByRole('button', { name: 'Delete' }).click()
    await page
      .getByRole('dialog', { name: 'Delete this budget?' })
      .getByRole('button', { name: 'Delete' })
      .click()
    await details.waitFor({ state: 'hidden' })

    await page.goto(`${stage.console}/settings`)
    const url = page.getByLabel('Webhook for alerts')
    await url.fill('ftp://127.0.0.1')
    await url.press('Enter')
    await url.and(page.locator('[aria-invalid=true]')).waitFor()
    await keepToasts(page)
    await url.fill('http://127.0.0.1:9/alerts')
    await url.press('Enter')
    await page.getByText('Saved').waitFor()
    const [row] = await stage.sql`select alert_url from account where id = ${stage.account.id}`
    assert.equal(row?.alert_url, 'http://127.0.0.1:9/alerts')
    await leave(watched)
  })

  test('an alert of a kind that the page does not know is shown without a link', async () => {
    const watched = await stage.signedIn('/alerts')
    const { page } = watched
    await page.getByRole('row', { name: /of the budget used/ }).waitFor()
    // As a later gateway answers.
    await page.route('**/admin/v1/**/alerts*', async (route) => {
      const answer = await route.fetch()
      const text = await answer.text()
      await route.fulfill({ json: JSON.parse(text.replaceAll('budget.threshold', 'event.later')) })
    })
    await page.reload()
    const later = page.getByRole('row', { name: /event\.later/ })
    await later.getByRole('button').click()
    const alert = page.getByRole('dialog', { name: 'event.later' })
    await alert.getByText('None: no mail server').waitFor()
    assert.equal(await alert.getByRole('link').count(), 0)
    await leave(watched)
  })

  test('of an operator: an owner sees its end users and changes nothing', async () => {
    const money = 1_000_000_000n
    const terms = { scope: 'end_user', time_zone: 'Asia/Shanghai' } as const
    const { id } = await giveBudget(stage.sql, stage.account.id, money, terms)
    await giveBudget(stage.sql, stage.account.id, money, {
      period: 'day',
      amount: 0n,
      action: 'warn',
    })
    await call()
    const watched = await stage.signedIn('/budgets', { role: 'owner' }, PHONE)
    const { page } = watched
    await page.getByRole('button', { name: 'Each end user' }).waitFor()
    await arrive(page, 'Budgets')
    await page.getByRole('button', { name: 'Each end user' }).click()
    const drawer = page.getByRole('dialog', { name: 'Each end user' })
    await drawer.getByText('No end user named').waitFor()
    await drawer.getByText(/An operator set this budget/).waitFor()
    assert.equal(await drawer.getByRole('button', { name: 'Edit' }).count(), 0)
    await arrive(page, 'Budgets')
    await page.goto(`${stage.console}/budgets?search=${id.slice(0, 12)}`)
    await page.getByText('All 1 shown').waitFor()
    await leave(watched)
  })
})
