/** Every step of a new operator, from an empty database to the first explained charge. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from '../../support/browser.ts'
import { type BareStage, startBareStage } from '../support/bare.ts'
import { openPage } from '../support/browser.ts'
import { addApp, arrive, goTo, leave, proveUntil } from '../support/journey.ts'
import { PASSWORD } from '../support/stage.ts'

const MODEL = 'river-1'

describe('the first run', { skip: noBrowser }, () => {
  let stage: BareStage
  before(async () => {
    stage = await startBareStage()
  })
  after(() => stage?.stop())

  test('from the printed link to the first explained charge', async () => {
    const watched = await openPage(stage.browser)
    const { page } = watched
    assert.notEqual(stage.setUpLink, '', stage.gateway.log())
    await becomeOperator(page, stage.setUpLink)
    await addChannel(page, stage.simulators.url)
    await addModel(page)
    await openAccount(page)
    await callOnce(page)
    await leave(watched)
  })

  test('the link works once', async () => {
    const { page } = await openPage(stage.browser)
    await page.goto(stage.setUpLink)
    await fillPerson(page, 'second@example.com')
    await page.getByRole('alert').first().waitFor()
    assert.match(page.url(), /\/setup/)
    const people = await stage.sql<{ email: string }[]>`select email from person`
    assert.deepEqual(
      people.map(({ email }) => email),
      ['root@example.com'],
    )
    await page.context().close()
  })
})

async function fillPerson(page: Page, email: string): Promise<void> {
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Your name').fill('Root')
  await page.getByLabel('New password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Create operator' }).click()
}

async function becomeOperator(page: Page, link: string): Promise<void> {
  await page.goto(link)
  await fillPerson(page, 'root@example.com')
  await page.getByText('Protect the operator account').waitFor()
  await page.getByRole('link', { name: 'Set up' }).click()
  await arrive(page, 'Settings')
  await addApp(page)
}

/** A server of one's own: the fields are those of the upstream's schema. */
async function addChannel(page: Page, simulators: string): Promise<void> {
  await goTo(page, '/operator/channels', 'Channels')
  await page.getByRole('button', { name: 'Add a channel' }).first().click()
  const drawer = page.getByRole('dialog', { name: 'Add a channel' })
  await drawer.getByRole('button', { name: /^Another vendor/ }).click()
  await drawer.getByRole('combobox', { name: 'Upstream' }).click()
  await page.getByRole('option', { name: /^OpenAI-compatible/ }).click()
  await drawer.getByRole('textbox', { name: 'Channel', exact: true }).fill('main')
  await drawer.getByRole('textbox', { name: 'Address of the API' }).fill(`${simulators}/openai/v1`)
  await drawer.getByRole('textbox', { name: 'API key', exact: true }).fill('sim-openai-key')
  await drawer.getByRole('button', { name: 'Add channel' }).click()
  const opened = page.getByRole('dialog', { name: 'main' })
  await proveUntil(page, opened.getByRole('button', { name: 'Test' }))
  await opened.getByRole('button', { name: 'Test' }).click()
  await opened.getByText('Test passed').waitFor()
  await opened.getByRole('button', { name: 'Close' }).click()
}

async function addModel(page: Page): Promise<void> {
  await goTo(page, '/operator/models', 'Models & prices')
  await page.getByRole('button', { name: 'Add a model' }).first().click()
  const drawer = page.getByRole('dialog', { name: 'Add a model' })
  await drawer.getByRole('button', { name: /^Enter everything by hand/ }).click()
  await drawer.getByRole('textbox', { name: 'Model', exact: true }).fill(MODEL)
  await drawer.getByLabel('Amount').first().fill('2')
  await drawer.getByLabel('Amount').nth(1).fill('6')
  await drawer.getByRole('combobox', { name: 'Channel' }).click()
  await page.getByRole('option', { name: 'main' }).click()
  await drawer.getByLabel('Upstream model').fill('sim-chat')
  await drawer.getByRole('button', { name: 'Add model' }).click()
  await proveUntil(page, page.getByRole('dialog', { name: MODEL }).getByText('Price history'))
  await page.getByRole('dialog', { name: MODEL }).getByRole('button', { name: 'Close' }).click()
}

async function openAccount(page: Page): Promise<void> {
  await goTo(page, '/operator/accounts', 'Accounts')
  await page.getByRole('button', { name: 'New account' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'New account' })
  await dialog.getByLabel('Name').fill('Riverside')
  await dialog.getByRole('button', { name: 'Create account' }).click()
  const drawer = page.getByRole('dialog', { name: 'Riverside' })
  await proveUntil(page, drawer.getByLabel(/^Amount/))
  await drawer.getByLabel(/^Amount/).fill('5')
  await drawer.getByLabel('Reason').fill('first payment')
  await drawer.getByRole('button', { name: 'Add credit' }).click()
  await proveUntil(page, drawer.getByText(/^first payment · By/))
  await drawer.getByRole('button', { name: 'View as owner' }).click()
  await arrive(page, 'Overview')
}

async function callOnce(page: Page): Promise<void> {
  await goTo(page, '/playground', 'Playground')
  await page.getByRole('button', { name: 'Send' }).click()
  const cost = page.getByRole('link', { name: 'Explain the charge' })
  await cost.waitFor()
  await cost.click()
  const explained = page.getByRole('dialog')
  await explained.getByRole('cell', { name: 'Charged', exact: true }).waitFor()
  await explained.getByText(MODEL).waitFor()
  await explained.getByRole('button', { name: 'Close' }).click()
  await explained.waitFor({ state: 'hidden' })
  await goTo(page, '/usage', 'Usage')
  await page.getByRole('table', { name: 'Usage' }).getByText(MODEL).waitFor()
}
