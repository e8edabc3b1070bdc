import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from '../support/browser.ts'
import { until } from '../support/until.ts'
import { expectAccessible, keepToasts, openPage } from './support/browser.ts'
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
    await page.locator('[role=menu]:focus, [role=menu] :focus').waitFor()
    await expectAccessible(page)
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

  /** Ends all sessions with the first such request: before it, another one may be on its way. */
  async function endSessionWith(page: Page, method: string, address: string) {
    let hasEnded = false
    await page.route(address, async (route) => {
      if (route.request().method() === method && !hasEnded) {
        hasEnded = true
        await stage.sql`delete from console_session`
      }
      await route.continue()
    })
  }

  test('a session that ends says so, and leads back to the page', async () => {
    const { page } = await stage.signedIn('/budgets')
    await page.getByRole('heading', { name: 'Budgets' }).waitFor()
    await endSessionWith(page, 'GET', '**/accounts/*/keys*')
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByRole('alert').getByText(ENDED).waitFor()
    const { email } = await stage.createPerson()
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    await page.context().close()
  })

  /** Opens the form of a budget, types, and ends the session with the request that saves it. */
  async function endWhileTyping() {
    const { page, context } = await stage.signedIn('/budgets?add=new')
    const form = page.getByRole('dialog', { name: 'Create budget' })
    await form.getByLabel('Budget', { exact: false }).fill('12')
    const [person] = await stage.sql<{ email: string }[]>`
      select p.email from console_session s join person p on p.id = s.person_id
      order by s.created_at desc`
    await endSessionWith(page, 'POST', '**/budgets')
    await form.getByRole('button', { name: 'Create budget' }).click()
    const cover = page.getByRole('dialog', { name: 'Your session has ended' })
    await cover.waitFor()
    const signInElsewhere = async (email: string) => {
      const [other] = await Promise.all([
        context.waitForEvent('page'),
        cover.getByRole('link', { name: 'Sign in' }).click(),
      ])
      await other.getByLabel('E-mail').fill(email)
      await other.getByLabel('Password', { exact: true }).fill(PASSWORD)
      await other.keyboard.press('Enter')
      await other.getByRole('heading', { name: 'Overview' }).waitFor()
      await other.close()
      // Coming back to the window may have been noticed already.
      await page.evaluate("window.dispatchEvent(new Event('focus'))")
    }
    return { page, form, cover, email: person?.email ?? '', signInElsewhere }
  }

  test('a session that ends keeps what was typed for the person who signs in again', async () => {
    const { page, form, cover, email, signInElsewhere } = await endWhileTyping()
    await page.keyboard.press('Escape')
    await cover.getByRole('button', { name: 'Continue' }).click()
    await cover.getByRole('alert').getByText('Nobody is signed in yet').waitFor()
    await signInElsewhere(email)
    await cover.waitFor({ state: 'detached' })
    assert.equal(await form.getByLabel('Budget', { exact: false }).inputValue(), '12')
    await form.getByRole('button', { name: 'Create budget' }).click()
    await form.waitFor({ state: 'detached' })
    const [{ budgets } = {}] = await stage.sql`select count(*)::int as budgets from budget`
    assert.equal(budgets, 1)
    await page.context().close()
  })

  test('what was typed is gone for another person, and when it is discarded', async () => {
    const other = await stage.createPerson()
    const { page, form, cover, signInElsewhere } = await endWhileTyping()
    await signInElsewhere(other.email)
    await cover.waitFor({ state: 'detached' })
    await form.waitFor()
    const amount = form.getByLabel('Budget', { exact: false })
    assert.equal(await amount.inputValue(), '')
    await amount.fill('13')
    // A third person signs in in another tab; this one is shown again.
    const third = await stage.createPerson()
    await stage.sql`update console_session set person_id = ${third.id}`
    await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
    await until('an empty form', async () => (await amount.inputValue()) === '')
    await page.context().close()
    const second = await endWhileTyping()
    await second.cover.getByRole('button', { name: 'Discard' }).click()
    await second.page.getByRole('alert').getByText(ENDED).waitFor()
    await second.page.context().close()
  })
})
