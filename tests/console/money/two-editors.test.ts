/** Two operators with the same form open: the later one is told, and undoes nothing. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from '../../support/browser.ts'
import { keepToasts } from '../support/browser.ts'
import { leave } from '../support/journey.ts'
import { type ConsoleStage, startConsoleStage } from '../support/stage.ts'

const REFUSAL = /this has changed since it was opened/

describe('two editors', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  /** Opens the form behind `act` at `path` in two browsers, and fills and saves both in turn. */
  async function editTwice(
    path: string,
    act: string | undefined,
    fill: (page: Page, value: string) => Promise<void>,
    save: (page: Page) => Promise<void>,
  ): Promise<void> {
    const open = async (page: Page) => {
      if (act !== undefined) await page.getByRole('button', { name: act, exact: true }).click()
    }
    const operator = { operator: true }
    const [first, second] = [
      await stage.signedIn(path, operator),
      await stage.signedIn(path, operator),
    ]
    for (const { page } of [first, second]) {
      await open(page)
      await fill(page, page === first.page ? '7' : '5')
    }
    await seeSaved(first.page, save)
    await save(second.page)
    await second.page.getByText(REFUSAL).waitFor()
    await second.page.goto(`${stage.console}${path}`)
    await open(second.page)
    await fill(second.page, '5')
    await seeSaved(second.page, save)
    await leave(first)
    await leave(second)
  }

  const seeSaved = async (page: Page, save: (page: Page) => Promise<void>) => {
    await keepToasts(page)
    await save(page)
    await page
      .getByText(/^Saved$| saved$/)
      .first()
      .waitFor()
  }
  const submit = (page: Page) =>
    page.getByRole('dialog').getByRole('button', { name: /^Save/ }).click()
  /** Saves a form that names its changes first. */
  const confirm = async (page: Page) => {
    await submit(page)
    const question = page.getByRole('dialog', { name: /^Save / })
    await question.getByRole('button', { name: /^Save/ }).click()
  }

  test('a model', async () => {
    const fill = (page: Page, value: string) => page.getByLabel('Amount').first().fill(value)
    await editTwice('/operator/models?id=sim-chat', 'Edit', fill, confirm)
    const [row] = await stage.sql`
      select prices->0->>'amount' as amount from price where model_id = 'sim-chat'
      order by version desc limit 1`
    assert.equal(row?.amount, '5')
  })

  test('a channel', async () => {
    // Its form is open with the channel, and stays open once it is saved.
    const fill = (page: Page, value: string) =>
      page.getByLabel('Maximum concurrent calls').fill(value)
    await editTwice('/operator/channels?id=test-openai', undefined, fill, confirm)
  })

  test('a model of a gateway that sends no revision is changed, and not added', async () => {
    const watched = await stage.signedIn('/operator', { operator: true })
    const { page } = watched
    await page.route('**/operator/models/sim-chat', async (route) => {
      if (route.request().method() !== 'GET') return await route.continue()
      const { revision: _, ...model } = await (await route.fetch()).json()
      await route.fulfill({ json: model })
    })
    await page.goto(`${stage.console}/operator/models?id=sim-chat`)
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await page.getByLabel('Amount').first().fill('8')
    await seeSaved(page, confirm)
    await leave(watched)
  })

  test('a channel that is not read again after a save stays as it was saved', async () => {
    const { page } = await stage.signedIn('/operator/channels?id=test-openai', { operator: true })
    const field = page.getByLabel('Maximum concurrent calls')
    await field.waitFor()
    const path = '/operator/channels/test-openai'
    const before = await (await page.request.get(`${stage.url}/admin/v1${path}`)).json()
    // The save of the first value ends once the second is typed.
    const typed = Promise.withResolvers<void>()
    await page.route(`**${path}`, async (route) => {
      if (route.request().method() !== 'GET') return await route.continue()
      await typed.promise
      await route.fulfill({ json: before })
    })
    for (const value of ['11', '12']) {
      await field.fill(value)
      if (value === '12') typed.resolve()
      const answer = page.waitForResponse((one) => one.request().method() === 'PUT')
      await confirm(page)
      assert.equal((await answer).status(), 200)
      await page.getByRole('dialog', { name: /^Save / }).waitFor({ state: 'hidden' })
      assert.equal(await field.inputValue(), value)
    }
    await page.context().close()
  })

  test('a price list, and the own prices of an account', async () => {
    await stage.sql`
      insert into price_list (id, currency, parent, source, definition)
      values ('gold', 'CNY', null, 'console:gold', '{"prices": {}, "default": "hidden"}')`
    const ofFactor = async (page: Page, value: string) => {
      const form = page.getByRole('dialog')
      await form.getByRole('combobox').first().click()
      await page.getByRole('option', { name: 'Parent’s price × factor' }).click()
      await form.getByLabel('Factor').fill(value)
    }
    await editTwice('/operator/price-lists?id=gold', 'Edit', ofFactor, submit)
    const own = `/operator/price-lists?account=${stage.account.id}`
    await editTwice(own, 'Set own prices', ofFactor, submit)
  })

  test('a sign-in provider and the limits of an account: what one changes is what is saved', async () => {
    await stage.sql`insert into identity_provider (id, name, issuer, client_id)
      values ('idp_acme', 'Acme', 'https://127.0.0.1:9', 'x')`
    const watched = await stage.signedIn('/operator/sign-in', { operator: true })
    const { page } = watched
    await page.getByRole('row', { name: /Acme/ }).getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Acme Ltd')
    await stage.sql`update identity_provider set disabled_at = now()`
    await submit(page)
    await page.getByRole('row', { name: /Acme Ltd/ }).waitFor()
    const [provider] = await stage.sql`select disabled_at from identity_provider`
    assert.ok(provider?.disabled_at)

    await page.goto(`${stage.console}/operator/accounts?id=${stage.account.id}`)
    await page.getByLabel('Requests per minute').fill('60')
    await stage.sql`update account set limits = '{"concurrent_calls": 2}'`
    await seeSaved(page, submit)
    const [account] = await stage.sql`select limits from account where id = ${stage.account.id}`
    assert.deepEqual(account?.limits, { requests_per_minute: 60, concurrent_calls: 2 })
    await leave(watched)
  })
})
