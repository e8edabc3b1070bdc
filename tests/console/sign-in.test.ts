import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { noBrowser } from '../support/browser.ts'
import { keepToasts, openPage } from './support/browser.ts'
import { type ConsoleStage, PASSWORD, startConsoleStage } from './support/stage.ts'

const ENDED = /^Your session has ended/

describe('signing in and out', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  test('a signed-out user signs in and reaches the requested page', async () => {
    const { email } = await stage.createPerson()
    const { page, complaints } = await openPage(stage.browser)
    await page.goto(`${stage.console}/keys?id=key_1`)
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password', { exact: true }).fill('a wrong one')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page
      .getByRole('alert')
      .getByText(/password/)
      .waitFor()
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    assert.equal(new URL(page.url()).search, '?id=key_1')
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('a link to another site is not followed after the sign-in', async () => {
    const { email } = await stage.createPerson()
    for (const next of ['//evil.example/', 'https://evil.example/', '/\\evil.example']) {
      const { page } = await openPage(stage.browser)
      await page.goto(`${stage.console}/sign-in?next=${encodeURIComponent(next)}`)
      await page.getByLabel('E-mail').fill(email)
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      assert.equal(new URL(page.url()).origin, stage.url, next)
      await page.context().close()
    }
  })

  test('signing out leaves nothing behind', async () => {
    const { page } = await stage.signedIn('/keys')
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    await page.getByRole('button', { name: 'Your menu' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    assert.equal(await page.getByText(ENDED).count(), 0)
    await page.goto(`${stage.console}/keys`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    assert.equal(await page.getByText(ENDED).count(), 0)
    await page.context().close()
  })

  test('signing out that fails does not look as if it had worked', async () => {
    const { page } = await stage.signedIn('/keys')
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    await page.route('**/session/end', (route) => route.abort())
    await keepToasts(page)
    const signOut = async () => {
      await page.getByRole('button', { name: 'Your menu' }).click()
      await page.getByRole('menuitem', { name: 'Sign out' }).click()
    }
    await signOut()
    await page.getByRole('alert').getByText('the gateway cannot be reached').waitFor()
    assert.equal(new URL(page.url()).pathname, '/console/keys')
    await page.unroute('**/session/end')
    await signOut()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.context().close()
  })

  test('a session that ends says so, and leads back to the page', async () => {
    const { page } = await stage.signedIn('/budgets?add=new')
    const form = page.getByRole('dialog', { name: 'Create budget' })
    await form.getByLabel('Budget', { exact: false }).fill('12')
    // With the request itself: one of the page's own before it would take the form away.
    await page.route('**/budgets', async (route) => {
      if (route.request().method() === 'POST') await stage.sql`delete from console_session`
      await route.continue()
    })
    await form.getByRole('button', { name: 'Create budget' }).click()
    await page.getByRole('alert').getByText(ENDED).waitFor()
    const { email } = await stage.createPerson()
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.keyboard.press('Enter')
    await form.waitFor()
    await page.context().close()
  })
})
