import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from '../support/browser.ts'
import { expectAccessible, expectFits, LOOKS, openPage } from './support/browser.ts'
import { type ConsoleStage, PASSWORD, startConsoleStage } from './support/stage.ts'
import { codeOf } from './support/totp.ts'

/** Completes the step-up dialog. */
async function prove(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Confirm your identity' })
  await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await dialog.waitFor({ state: 'hidden' })
}

let stage: ConsoleStage
before(async () => {
  if (!noBrowser) stage = await startConsoleStage()
})
after(() => stage?.stop())

describe('settings', { skip: noBrowser }, () => {
  test('an authenticator app is added after a step-up, and required from then on', async () => {
    const { page, complaints } = await stage.signedIn('/settings')
    const email = await page
      .getByText(/^person\d+@/)
      .first()
      .innerText()
    await stage.sql`update console_session set stepped_up_until = null`
    await page.getByRole('button', { name: 'Add an authenticator app' }).click()
    await prove(page)
    const dialog = page.getByRole('dialog', { name: 'Add an authenticator app' })
    await dialog.getByRole('img', { name: 'QR code for authenticator apps' }).waitFor()
    const secret = await dialog.getByText(/^[A-Z2-7]{32}$/).innerText()
    await dialog.getByLabel('Code shown by the app').fill(codeOf(secret))
    await dialog.getByRole('button', { name: 'Confirm' }).click()
    const codes = page.getByRole('dialog', { name: 'Your recovery codes' })
    const [code = ''] = (await codes.locator('pre').innerText()).split('\n')
    await codes.getByRole('button', { name: 'I have saved them' }).click()
    await page.getByText('On', { exact: true }).waitFor()
    assert.deepEqual(complaints, [])
    await page.context().close()

    const again = await openPage(stage.browser)
    await again.page.goto(`${stage.console}/sign-in`)
    await again.page.getByLabel('E-mail').fill(email)
    await again.page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await again.page.keyboard.press('Enter')
    await again.page.getByRole('button', { name: 'Use a recovery code instead' }).click()
    await again.page.getByLabel('Recovery code').fill(code)
    await again.page.keyboard.press('Enter')
    await again.page.getByRole('heading', { name: 'Overview' }).waitFor()
    await again.context.close()
  })

  test('after a wrong code the same QR code is confirmed by the right one', async () => {
    const { page, context, complaints } = await stage.signedIn('/settings')
    const open = async (of: Page) => {
      await of.getByRole('button', { name: 'Add an authenticator app' }).click()
      const dialog = of.getByRole('dialog', { name: 'Add an authenticator app' })
      const shown = dialog.getByText(/^[A-Z2-7]{32}$/)
      return { dialog, shown, secret: await shown.innerText() }
    }
    const send = async (of: Awaited<ReturnType<typeof open>>['dialog'], code: string) => {
      await of.getByLabel('Code shown by the app').fill(code)
      await of.getByRole('button', { name: 'Confirm' }).click()
    }
    const first = await open(page)
    await send(first.dialog, '12345')
    await first.dialog.getByText(/must be the six digits/).waitFor()
    // The step-up has run out: its dialog must not change the secret either.
    await stage.sql`update console_session set stepped_up_until = null`
    await send(first.dialog, codeOf(first.secret, Date.now() - 600_000))
    await prove(page)
    await first.dialog.getByText(/not the current code/).waitFor()
    await page.waitForLoadState('networkidle')
    assert.equal(await first.shown.innerText(), first.secret)
    // A second tab and a reloaded page show what the app has scanned.
    const tab = await context.newPage()
    await tab.goto(`${stage.console}/settings`)
    assert.equal((await open(tab)).secret, first.secret)
    await page.reload()
    const again = await open(page)
    assert.equal(again.secret, first.secret)
    await send(again.dialog, codeOf(first.secret))
    await page.getByRole('button', { name: 'I have saved them' }).click()
    await page.getByText('On', { exact: true }).waitFor()
    await send(tab.getByRole('dialog', { name: 'Add an authenticator app' }), '123456')
    await tab.getByText(/another window may have confirmed it/).waitFor()
    assert.deepEqual(complaints, [])
    await context.close()
  })

  test('a mistyped password is no end of the session', async () => {
    const { page } = await stage.signedIn('/settings')
    await page.getByRole('button', { name: 'Change password' }).click()
    const dialog = page.getByRole('dialog', { name: 'Change password' })
    await dialog.getByLabel('Current password').fill('mistyped')
    await dialog.getByLabel('New password').fill('seven hills and one river')
    const asked = page.waitForResponse((answer) => answer.url().endsWith('/session/start'))
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('alert').getByText('wrong e-mail address or password').waitFor()
    await asked
    await dialog.getByLabel('Current password').fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await page.context().close()
  })

  test('the request for a proof waits for its dialog to be loaded', async () => {
    const { page } = await stage.signedIn('/sign-in')
    await stage.sql`update console_session set stepped_up_until = null`
    const release = Promise.withResolvers<void>()
    await page.route(/step-up-dialog[^/]*\.js$/, async (route) => {
      await release.promise
      await route.continue()
    })
    await page.goto(`${stage.console}/settings`)
    const refusal = page.waitForResponse((answer) => answer.url().endsWith('/profile/totp'))
    await page.getByRole('button', { name: 'Add an authenticator app' }).click()
    assert.equal((await refusal).status(), 403)
    release.resolve()
    await prove(page)
    const dialog = page.getByRole('dialog', { name: 'Add an authenticator app' })
    await dialog.getByRole('img', { name: 'QR code for authenticator apps' }).waitFor()
    await page.context().close()
  })

  test('an invited person joins through the link', async () => {
    const { page } = await stage.signedIn('/settings')
    await page.getByRole('button', { name: 'Invite someone' }).click()
    const dialog = page.getByRole('dialog', { name: 'Invite someone' })
    await dialog.getByLabel('E-mail').fill('new@example.com')
    await dialog.getByRole('button', { name: 'Create link' }).click()
    const link = await dialog.locator('pre').innerText()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await page.getByText(/^Invited, until/).waitFor()

    const refusal = { status: 403, json: { error: 'not today', type: 'permission_error' } }
    const guest = await openPage(stage.browser)
    await guest.page.route('**/invitation/view', (route) => route.fulfill(refusal), { times: 1 })
    await guest.page.goto(link)
    await guest.page.getByText('not today').waitFor()
    await guest.page.getByRole('button', { name: 'Try again' }).click()
    await guest.page.getByText(/invited to test as new@example.com/).waitFor()
    await guest.page.getByLabel('Your name').fill('Robin')
    const password = guest.page.getByLabel('New password', { exact: true })
    await password.fill('password1234')
    await guest.page.getByRole('button', { name: 'Join' }).click()
    await guest.page.getByText('is easy to guess: choose another', { exact: true }).waitFor()
    assert.equal(await password.getAttribute('aria-invalid'), 'true')
    await password.fill('seven hills and one river')
    await guest.page.getByRole('button', { name: 'Join' }).click()
    await guest.page.getByRole('heading', { name: 'Overview' }).waitFor()
    assert.deepEqual(guest.complaints, [])
    await guest.context.close()
    await page.route('**/invitations', (route) => route.fulfill(refusal))
    await page.reload()
    await page.getByText('Robin').waitFor()
    await page.getByRole('alert').getByText('not today').waitFor()
    await page.context().close()
  })
})

describe('settings, for all', { skip: noBrowser }, () => {
  test('a passkey is added, signs in, and is removed', async () => {
    const { page, context } = await stage.signedIn('/settings')
    // Browsers have passkeys for names: this machine's is localhost.
    const { value = '' } = (await context.cookies())[0] ?? {}
    const home = stage.console.replace('127.0.0.1', 'localhost')
    await context.addCookies([{ name: 'tributary_session', value, url: home }])
    // Another origin may get another process, and an authenticator from before stays behind.
    await page.goto(`${home}/settings`)
    await page.getByRole('button', { name: 'Add a passkey' }).waitFor()
    const devTools = await context.newCDPSession(page)
    await devTools.send('WebAuthn.enable')
    const options = { protocol: 'ctap2', transport: 'internal', automaticPresenceSimulation: true }
    const abilities = { hasResidentKey: true, hasUserVerification: true, isUserVerified: true }
    await devTools.send('WebAuthn.addVirtualAuthenticator', {
      options: { ...options, ...abilities } as never,
    })
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByLabel('Passkey name').fill('this laptop')
    await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click()
    await page.getByRole('button', { name: 'I have saved them' }).click()
    await page.getByText('this laptop').waitFor()

    await page.getByRole('button', { name: 'Your menu' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await context.close()
  })

  test('a member reads the limits of the account', async () => {
    const limits = { requests_per_minute: 1200 }
    await stage.sql`update account set limits = ${stage.sql.json(limits)}`
    const { page } = await stage.signedIn('/settings', { role: 'viewer' })
    await page.getByText('Requests per minute').waitFor()
    await page.getByText('1,200', { exact: true }).waitFor()
    // Tokens per minute and concurrent calls.
    await page.getByText('No limit', { exact: true }).nth(1).waitFor()
    await page.context().close()
  })

  test('other sessions are listed and ended', async () => {
    const { page } = await stage.signedIn('/settings')
    await page.getByText('This browser').waitFor()
    await page.getByText(/Chrome · Linux/).waitFor()
    await stage.sql`
      insert into console_session (id, person_id, token_hash, user_agent)
      select 'ses_elsewhere', person_id, 'elsewhere', 'Elsewhere'
      from console_session order by created_at desc limit 1`
    await page.reload()
    const end = page.getByRole('button', { name: 'Sign out', exact: true })
    const gate = Promise.withResolvers<void>()
    let ends = 0
    await page.route('**/sessions/ses_elsewhere', async (route) => {
      ends += 1
      await gate.promise
      await route.continue()
    })
    await end.click()
    await end.and(page.locator('[data-loading]')).waitFor()
    await end.click({ force: true })
    gate.resolve()
    await end.waitFor({ state: 'detached' })
    assert.equal(ends, 1)
    await page.context().close()
  })

  test('each part that could not be loaded says so', async () => {
    const { page } = await stage.signedIn('/sign-in')
    const refusal = { status: 403, json: { error: 'not today', type: 'permission_error' } }
    const parts = ['**/profile/passkeys', '**/members', `**/accounts/${stage.account.id}`]
    for (const part of parts) await page.route(part, (route) => route.fulfill(refusal))
    await page.goto(`${stage.console}/settings`)
    await page
      .getByRole('alert')
      .getByText('not today')
      .nth(parts.length - 1)
      .waitFor()
    await page.context().close()
  })

  test('an operator without an account reaches them too', async () => {
    const { page } = await stage.signedIn('/settings', { operator: true })
    await page.getByRole('heading', { name: 'Second factor' }).waitFor()
    await page.context().close()
  })

  for (const look of LOOKS) {
    test(`accessible: ${JSON.stringify(look)}`, async () => {
      await stage.sql`update person set name = ${'long'.repeat(25)}`
      const { page, complaints } = await stage.signedIn('/settings', {}, look)
      await page.getByText('person', { exact: false }).first().waitFor()
      await expectFits(page)
      const roles = page.locator('.mantine-Badge-label')
      await roles.nth(1).waitFor({ state: 'attached' })
      const cut = await roles.evaluateAll((all) =>
        all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent),
      )
      assert.deepEqual(cut, [])
      await expectAccessible(page)
      assert.deepEqual(complaints, [])
      await page.context().close()
    })
  }
})
