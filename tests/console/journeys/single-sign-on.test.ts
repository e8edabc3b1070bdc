/**
 * The company's door in a real browser, against a certified provider: an operator adds it, an invited
 * person comes in by it, a person who is here already links it, and the password still opens when
 * it is away. Signing up, by mail and by provider.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from '../../support/browser.ts'
import {
  CLIENT,
  type IdentityProvider,
  startIdentityProvider,
} from '../../support/servers/identity-provider.ts'
import { type SmtpTestServer, startSmtpServer } from '../../support/servers/smtp-server.ts'
import { until } from '../../support/until.ts'
import { expectAccessible, expectFits, openPage, PHONE } from '../support/browser.ts'
import { arrive, leave } from '../support/journey.ts'
import { type ConsoleStage, PASSWORD, startConsoleStage } from '../support/stage.ts'

const TERMS = 'https://acme.example/terms'

describe('the company’s door', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  let company: IdentityProvider
  let smtp: SmtpTestServer

  before(async () => {
    company = await startIdentityProvider()
    smtp = await startSmtpServer()
    stage = await startConsoleStage({
      env: {
        ALLOW_PRIVATE_TARGETS: 'true',
        TARGET_PORTS: String(company.port),
        SMTP_URL: `smtp://127.0.0.1:${smtp.port}?starttls=off`,
        MAIL_FROM: 'Tributary <gateway@t.example>',
        OIDC_ISSUER: company.issuer,
        OIDC_CLIENT_ID: CLIENT.id,
        OIDC_CLIENT_SECRET: CLIENT.secret,
        SIGN_UP: 'on',
        SIGN_UP_DOMAINS: 'acme.example',
        SIGN_UP_TERMS: TERMS,
        SIGN_UP_GRANT: '2.5',
      },
    })
    company.open(`${stage.url}/admin/v1/sign-in/oidc/callback`, `${stage.url}/console/sign-in`)
  })
  after(async () => {
    await stage?.stop()
    await company?.stop()
    await smtp?.stop()
  })

  const enter = async (page: Page, who: string) => {
    company.people.set(who, { email: `${who}@acme.example`, email_verified: true, name: who })
    await page.getByRole('heading', { name: 'Acme’s door' }).waitFor()
    await page.getByLabel('Who are you?').fill(who)
    await page.getByRole('button', { name: 'Enter' }).click()
  }
  const check = async (page: Page) => {
    await expectFits(page)
    await expectAccessible(page)
  }

  test('an operator adds a provider, and tries what it would give', async () => {
    const operator = { operator: true }
    const watched = await stage.signedIn('/operator/sign-in', operator)
    const { page } = watched
    await arrive(page, 'Sign-in')
    await page.getByRole('button', { name: 'Add a provider' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Add a provider' })
    await dialog.getByLabel('Name').fill('Acme')
    await dialog.getByRole('textbox', { name: 'Issuer' }).fill(`${company.issuer}/`)
    await dialog.getByRole('button', { name: 'Test discovery' }).click()
    await dialog.getByText('People cannot sign in with this issuer').waitFor()
    await dialog.getByText(/write the issuer exactly like this/).waitFor()
    await dialog.getByRole('textbox', { name: 'Issuer' }).fill(company.issuer)
    await dialog.getByRole('button', { name: 'Test discovery' }).click()
    await dialog.getByText('The provider answers').waitFor()
    await dialog.getByText(`${stage.url}/admin/v1/sign-in/oidc/callback`).waitFor()
    await check(page)
    await dialog.getByLabel('Client id').fill(CLIENT.id)
    await dialog.getByLabel('Client secret').fill(CLIENT.secret)
    await dialog.getByRole('textbox', { name: 'Rules' }).fill('[{"when": {}}]')
    await dialog.getByRole('button', { name: 'Add a provider' }).click()
    await dialog.getByText(/needs "when" with a claim/).waitFor()
    await dialog.getByRole('textbox', { name: 'Rules' }).fill('[]')
    await dialog.getByRole('button', { name: 'Add a provider' }).click()
    await page.getByRole('row', { name: /Acme/ }).getByText('Works').waitFor()
    const claims = { iss: company.issuer, sub: 'ada', aud: 'x' }
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const token = `${part({ alg: 'RS256' })}.${part(claims)}.c2ln`
    await page.getByRole('textbox', { name: 'Token of a directory' }).fill(token)
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByText('no token issuer is set').waitFor()
    await page.getByText('Signing in with Acme gives').waitFor()
    await check(page)
    await leave(watched)
  })

  test('an invited person comes in by it, and leaves it too, on a phone in Chinese', async () => {
    const owner = await stage.signedIn('/settings')
    const invited = await owner.page.request.post(
      `${stage.url}/admin/v1/accounts/${stage.account.id}/invitations`,
      {
        headers: { 'x-tributary-console': '1' },
        data: { email: 'grace@acme.example', role: 'developer' },
      },
    )
    assert.equal(invited.status(), 200)
    await leave(owner)
    const watched = await openPage(stage.browser, { ...PHONE, locale: 'zh-CN' })
    const { page } = watched
    await page.goto(`${stage.console}/models?search=a+b`)
    await page.getByRole('button', { name: '使用 localhost 继续' }).waitFor()
    await check(page)
    await page.getByRole('button', { name: '使用 localhost 继续' }).click()
    await enter(page, 'grace')
    await page.waitForURL(`${stage.console}/models?search=a+b`)
    const { memberships } = await (await page.request.get(`${stage.url}/admin/v1/session`)).json()
    assert.deepEqual(
      memberships.map((one: { account_id: string; role: string }) => [one.account_id, one.role]),
      [[stage.account.id, 'developer']],
    )
    await page.getByRole('button', { name: /菜单/ }).last().click()
    await page.getByRole('menuitem', { name: /退出/ }).click()
    await page.getByRole('button', { name: 'Yes, leave' }).click()
    await page.waitForURL(/\/console\/sign-in/)
    await page.getByRole('button', { name: '使用 localhost 继续' }).click()
    // The provider's session has ended as well: it asks again who it is.
    await page.getByLabel('Who are you?').waitFor()
    await leave(watched)
  })

  test('who signs in otherwise is not taken for somebody else, and links it', async () => {
    const { email } = await stage.createPerson({ operator: true })
    company.people.set('other', { email, email_verified: true })
    const watched = await openPage(stage.browser)
    const { page } = watched
    await page.goto(`${stage.console}/sign-in`)
    await page.getByRole('button', { name: 'Continue with localhost' }).click()
    await page.getByLabel('Who are you?').fill('other')
    await page.getByRole('button', { name: 'Enter' }).click()
    await page.getByText(/Someone already signs in with this address/).waitFor()
    await check(page)
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${stage.console}/`)
    await page.goto(`${stage.console}/settings`)
    await page.getByRole('button', { name: 'Link localhost' }).click()
    await page.waitForURL(`${stage.console}/settings#linked`)
    await page.getByText(/linked on/).waitFor()
    await check(page)
    await page.getByRole('button', { name: 'Your menu' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.getByRole('button', { name: 'Continue with localhost' }).click()
    await page.waitForURL(`${stage.console}/`)
    const { user } = await (await page.request.get(`${stage.url}/admin/v1/session`)).json()
    assert.deepEqual([user.email, user.operator], [email, true])
    await leave(watched)
  })

  test('strangers sign up by mail or with the provider, after the terms', async () => {
    const watched = await openPage(stage.browser, PHONE)
    const { page } = watched
    await page.goto(`${stage.console}/sign-in`)
    await page.getByRole('link', { name: 'Create an account' }).click()
    await page.getByText('You start with 2.5 CNY').waitFor()
    await check(page)
    assert.ok(await page.getByRole('button', { name: 'Continue with localhost' }).isDisabled())
    await page.getByLabel('E-mail').fill('eve@evil.example')
    await page.getByRole('button', { name: 'Send me a link' }).click()
    await page.getByText(/must be of acme.example/).waitFor()
    await page.getByLabel('E-mail').fill('lin@acme.example')
    await page.getByRole('button', { name: 'Send me a link' }).click()
    await page.getByText(/We have mailed a link/).waitFor()
    const mail = await until('the mail', () =>
      smtp.mails.find(({ to }) => to.includes('lin@acme.example')),
    )
    const text = mail.data.replaceAll('=\r\n', '').replaceAll('=3D', '=')
    const [link = ''] = /http:\S+\/console\/sign-up#token=\S+/.exec(text) ?? []
    // In the page that is open: the browser moves to the fragment and loads nothing.
    await page.goto(link)
    await page.getByText('lin@acme.example is confirmed.').waitFor()
    await page.getByLabel('Your name').fill('Lin')
    await page.getByLabel(/New password/).fill(PASSWORD)
    await page.getByRole('button', { name: 'Open my account' }).click()
    await page.getByText(/the terms have to be accepted/).waitFor()
    await page.getByLabel(/I accept/).check()
    await check(page)
    await page.getByRole('button', { name: 'Open my account' }).click()
    await page.waitForURL(`${stage.console}/`)
    await page.context().clearCookies()
    await page.goto(`${stage.console}/sign-up`)
    await page.getByLabel(/I accept/).check()
    await page.getByRole('button', { name: 'Continue with localhost' }).click()
    await enter(page, 'max')
    await page.waitForURL(`${stage.console}/`)
    const rows = await stage.sql`
      select s.email, s.terms, b.available from sign_up s join balance b using (account_id)
      order by s.created_at`
    const expected = { terms: TERMS, available: 2_500_000_000n }
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      ['lin', 'max'].map((who) => ({ email: `${who}@acme.example`, ...expected })),
    )
    await page.context().clearCookies()
    await page.route('**/admin/v1/session/start', async (route) => {
      const start = await (await route.fetch()).json()
      await route.fulfill({ json: { ...start, sign_up: { ...start.sign_up, by_mail: false } } })
    })
    await page.route('**/admin/v1/sign-in/oidc', (route) => route.fulfill({ json: { data: [] } }))
    await page.goto(`${stage.console}/sign-up`)
    await page.getByText('Nobody can sign up here at the moment').waitFor()
    await check(page)
    await leave(watched)
    const { page: seen, ...rest } = await stage.signedIn('/operator/sign-in', { operator: true })
    await seen
      .getByRole('row', { name: /lin@acme/ })
      .getByRole('button', { name: 'Stop', exact: true })
      .click()
    await seen.getByLabel('and all others of 127.0.0.1').check()
    await check(seen)
    await seen.getByRole('dialog').getByRole('button', { name: 'Stop' }).click()
    for (const who of [/lin@acme.*mail/, /max@acme.*localhost/]) {
      await seen.getByRole('row', { name: who }).getByText('Stopped').waitFor()
    }
    await check(seen)
    await leave({ page: seen, ...rest })
  })

  test('with the provider away, operators come in by their password', async () => {
    const { email } = await stage.createPerson({ operator: true })
    await company.stop()
    await stage.sql`insert into identity_provider (id, name, issuer, client_id)
      values ('idp_away', 'Away', ${company.issuer}, 'nobody')`
    const watched = await openPage(stage.browser)
    const { page } = watched
    await page.goto(`${stage.console}/sign-in`)
    await page.getByRole('button', { name: 'Continue with localhost' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Continue with Away' }).count(), 0)
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${stage.console}/`)
    await page.goto(`${stage.console}/operator/sign-in`)
    await page.getByRole('row', { name: /Away/ }).getByText('Cannot be used').waitFor()
    await leave(watched)
  })
})
